// error: "bahdanau: Thrust was not found; link bahdanau::thrust, and install the CUDA toolkit or
// libthrust-dev"
#include <bahdanau/backend/thrust.hpp>

int main() {}
