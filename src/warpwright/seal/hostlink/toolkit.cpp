// Answers in the toolkit's structures, for host objects compiled by nvcc: compiled with the toolkit's headers.
#include <cuda_runtime_api.h>

#include <cstdint>

#include "facts.h"

#define TAKEN(member) target->member = *fact++;

static cudaError_t describe_device(cudaDeviceProp* target) {
  long long facts[64];
  const long long* fact = facts;
  *target = cudaDeviceProp{};
  hostlink_device_facts(facts, target->name);
  WARPWRIGHT_DEVICE_FACTS(TAKEN)
  return cudaSuccess;
}

static cudaDeviceProp* current() {
  static cudaDeviceProp properties;
  describe_device(&properties);
  return &properties;
}

extern "C" {
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* target, int device) {
  return device == 0 ? describe_device(target) : cudaErrorInvalidDevice;
}
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* target, const void* function) {
  long long facts[64];
  const long long* fact = facts;
  *target = cudaFuncAttributes{};
  hostlink_function_facts(facts, function);
  WARPWRIGHT_FUNCTION_FACTS(TAKEN)
  return cudaSuccess;
}
cudaDeviceProp* __wrap__ZN2at4cuda26getCurrentDevicePropertiesEv() { return current(); }
cudaDeviceProp* __wrap__ZN2at4cuda19getDevicePropertiesEl(int64_t) { return current(); }
}
