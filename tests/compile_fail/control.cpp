// compiles
#include <bahdanau/bahdanau.hpp>

int main() {}
