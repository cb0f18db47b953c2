// error: "bahdanau needs g++ or clang++: its kernels are written with their vectors"
#undef __GNUC__  // as MSVC, for which this error is the last one
#include <bahdanau/bahdanau.hpp>
