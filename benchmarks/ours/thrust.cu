// The same, compiled by nvcc.
#include "thrust.cpp"
