// The target GPU, as the request describes it.
#ifndef WARPWRIGHT_RECORDER_GPU_H
#define WARPWRIGHT_RECORDER_GPU_H

#include "recorder.h"

namespace warpwright {

void describe_gpu(const Json& request);

// As described by the last request, or by the first one before any was answered.
const cudaDeviceProp& described_gpu();

// The most blocks of a cluster that need not be asked for; 1 where there are no clusters.
int portable_cluster_blocks();

}  // namespace warpwright

#endif
