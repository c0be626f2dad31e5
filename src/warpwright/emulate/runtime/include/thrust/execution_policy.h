// Who executes an algorithm: the calling thread, or the device. Device code with a device policy executes it
// itself.
#ifndef WARPWRIGHT_THRUST_EXECUTION_POLICY_H
#define WARPWRIGHT_THRUST_EXECUTION_POLICY_H

#include "../cuda_runtime.h"

namespace thrust {

struct sequential_policy {};
struct device_policy {
  device_policy on(cudaStream_t stream) const { return {stream}; }
  cudaStream_t stream = nullptr;
};

template <class P>
concept execution_policy = std::is_same_v<P, sequential_policy> || std::is_same_v<P, device_policy>;

inline constexpr sequential_policy seq;
inline constexpr device_policy device;
namespace cuda {
inline constexpr device_policy par, par_nosync;
}

// Whether the caller itself is to do it.
inline bool by_caller(const sequential_policy&) { return true; }
inline bool by_caller(const device_policy&) { return warpwright::emulated::in_kernel(); }
inline cudaStream_t stream_of(const sequential_policy&) { return nullptr; }
inline cudaStream_t stream_of(const device_policy& policy) { return policy.stream; }

}  // namespace thrust

#endif
