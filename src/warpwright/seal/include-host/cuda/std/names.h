// libcu++ mirrors the standard library; on the host the standard library itself will do.
#ifndef WARPWRIGHT_CUDA_STD_NAMES_H
#define WARPWRIGHT_CUDA_STD_NAMES_H

namespace cuda::std {
using namespace ::std;
}

#endif
