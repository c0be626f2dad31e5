// The device of tensors without data. torch's CPU build has no CUDA device, yet asks for one in many places.
#include <c10/core/impl/DeviceGuardImplInterface.h>

namespace {

struct OneDevice final : c10::impl::NoOpDeviceGuardImpl<c10::DeviceType::CUDA> {
  c10::Device getDevice() const override { return {c10::DeviceType::CUDA, 0}; }
  c10::Device exchangeDevice(c10::Device) const override { return getDevice(); }
  c10::DeviceIndex deviceCount() const noexcept override { return 1; }
};

C10_REGISTER_GUARD_IMPL(CUDA, OneDevice)

}  // namespace
