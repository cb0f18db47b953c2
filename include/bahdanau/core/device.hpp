// The one macro for functions that run on the host and on a device.
// Pointwise maths is written once with it; without a CUDA compiler it is nothing.
#pragma once

#ifdef __CUDACC__
#define BAHDANAU_HOST_DEVICE __host__ __device__
#else
#define BAHDANAU_HOST_DEVICE
#endif
