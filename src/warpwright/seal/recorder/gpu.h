// The target GPU, as the request describes it.
#ifndef WARPWRIGHT_RECORDER_GPU_H
#define WARPWRIGHT_RECORDER_GPU_H

#include "recorder.h"

namespace warpwright {

void describe_gpu(const Json& request);

}  // namespace warpwright

#endif
