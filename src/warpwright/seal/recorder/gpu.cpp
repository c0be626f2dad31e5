// Answers queries about the device and its kernels for the target GPU, not for this machine.
#include "gpu.h"

using namespace warpwright;

namespace {

constexpr int WARP = 32;
constexpr int ASSUMED_REGISTERS = 32;

// What the request says of the target, for which there is no default.
struct Target {
  cudaDeviceProp properties{};
  int cluster_blocks = 1, register_granularity = 1, shared_granularity = 1;
};

void set_constants(cudaDeviceProp& p) {
  p.warpSize = WARP;
  p.totalConstMem = 65536;
  p.concurrentKernels = p.cooperativeLaunch = p.unifiedAddressing = p.managedMemory = p.canMapHostMemory = 1;
  p.memPitch = 2147483647;
  p.textureAlignment = 512;
  p.asyncEngineCount = 3;
  p.accessPolicyMaxWindowSize = p.major >= 8 ? 134213632 : 0;
}

Target& target() {
  static Target described;
  return described;
}

template <class T>
void take(const Json& gpu, const char* key, T& field) {
  if (const Json* value = gpu.find(key)) field = static_cast<T>(value->whole());
}

template <class T>
void need(const Json& gpu, const char* key, T& field) {
  field = static_cast<T>(gpu.at(key).whole());
}

template <class T>
void need(const Json& gpu, const char* key, T (&extents)[3]) {
  const std::vector<int64_t> given = gpu.at(key).wholes();
  for (size_t axis = 0; axis < 3; ++axis) extents[axis] = static_cast<T>(given.at(axis));
}

struct KernelFacts {
  int registers = ASSUMED_REGISTERS, max_threads = 1024;
  size_t static_shared = 0, local = 0;
  bool known = false;
};

KernelFacts facts_of(const void* function) {
  KernelFacts facts;
  if (const Json* given = Recorder::current().kernel_facts(function)) {
    facts.known = true;
    take(*given, "registers", facts.registers);
    take(*given, "max_threads", facts.max_threads);
    take(*given, "static_shared", facts.static_shared);
    take(*given, "local", facts.local);
  }
  return facts;
}

template <class T>
T rounded_up(T value, T granule) {
  return (value + granule - 1) / granule * granule;
}

// The blocks that fit on one multiprocessor, limited by blocks, warps, registers and shared memory.
int resident_blocks(const KernelFacts& kernel, int block, size_t dynamic_shared) {
  const cudaDeviceProp& gpu = described_gpu();
  if (block <= 0 || block > kernel.max_threads || block > gpu.maxThreadsPerBlock) return 0;
  int warps = (block + WARP - 1) / WARP;
  int registers = rounded_up(kernel.registers * WARP, target().register_granularity) * warps;
  size_t shared = rounded_up(kernel.static_shared + dynamic_shared + gpu.reservedSharedMemPerBlock,
                             static_cast<size_t>(target().shared_granularity));
  int limit = std::min(gpu.maxBlocksPerMultiProcessor, gpu.maxThreadsPerMultiProcessor / WARP / warps);
  if (registers > 0) limit = std::min(limit, gpu.regsPerMultiprocessor / registers);
  if (shared > 0) limit = std::min(limit, static_cast<int>(gpu.sharedMemPerMultiprocessor / shared));
  return limit;
}

// The program's own globals are made before `main`, and their constructors may ask about the device.
__attribute__((constructor(101))) void describe_for_globals(int count, char** arguments) {
  std::FILE* requests = count == 3 ? std::fopen(arguments[1], "r") : nullptr;
  if (!requests) return;
  char* line = nullptr;
  size_t room = 0;
  if (getline(&line, &room, requests) > 0) describe_gpu(Json::parse(line));
  std::free(line);
  std::fclose(requests);
}

}  // namespace

namespace warpwright {

void describe_gpu(const Json& request) {
  Target& described = target();
  cudaDeviceProp& p = described.properties;
  const Json& gpu = request.at("gpu");
  p = {};
  std::snprintf(p.name, sizeof p.name, "%s", gpu.at("name").string().c_str());
  need(gpu, "major", p.major);
  need(gpu, "minor", p.minor);
  need(gpu, "multiprocessors", p.multiProcessorCount);
  need(gpu, "global_memory", p.totalGlobalMem);
  need(gpu, "shared_per_block", p.sharedMemPerBlock);
  need(gpu, "shared_per_block_optin", p.sharedMemPerBlockOptin);
  need(gpu, "shared_per_multiprocessor", p.sharedMemPerMultiprocessor);
  need(gpu, "reserved_shared_per_block", p.reservedSharedMemPerBlock);
  need(gpu, "registers_per_block", p.regsPerBlock);
  need(gpu, "registers_per_multiprocessor", p.regsPerMultiprocessor);
  need(gpu, "threads_per_multiprocessor", p.maxThreadsPerMultiProcessor);
  need(gpu, "blocks_per_multiprocessor", p.maxBlocksPerMultiProcessor);
  need(gpu, "threads_per_block", p.maxThreadsPerBlock);
  need(gpu, "max_block", p.maxThreadsDim);
  need(gpu, "max_grid", p.maxGridSize);
  need(gpu, "l2", p.l2CacheSize);
  need(gpu, "clock_khz", p.clockRate);
  need(gpu, "cluster_blocks", described.cluster_blocks);
  need(gpu, "register_granularity", described.register_granularity);
  need(gpu, "shared_granularity", described.shared_granularity);
  p.clusterLaunch = described.cluster_blocks > 1;
  set_constants(p);
}

const cudaDeviceProp& described_gpu() { return target().properties; }

int portable_cluster_blocks() { return target().cluster_blocks; }

cudaError_t active_blocks(int* blocks, const void* function, int block, size_t shared) {
  KernelFacts kernel = facts_of(function);
  Recorder::current().add_query("occupancy", function, block, shared, kernel.known);
  *blocks = resident_blocks(kernel, block, shared);
  return cudaSuccess;
}

cudaError_t best_block(int* grid, int* block, const void* function, size_t shared, int limit) {
  KernelFacts kernel = facts_of(function);
  Recorder::current().add_query("occupancy", function, 0, shared, kernel.known);
  int widest = limit > 0 ? std::min(limit, kernel.max_threads) : kernel.max_threads, most_threads = 0;
  for (int size = widest / WARP * WARP; size > 0; size -= WARP) {
    int blocks = resident_blocks(kernel, size, shared);
    if (blocks * size > most_threads) {
      most_threads = blocks * size;
      *block = size;
      *grid = blocks * described_gpu().multiProcessorCount;
    }
  }
  return most_threads ? cudaSuccess : cudaErrorInvalidValue;
}

cudaError_t attributes_of(cudaFuncAttributes* attributes, const void* function) {
  KernelFacts kernel = facts_of(function);
  Recorder::current().add_query("attributes", function, 0, 0, kernel.known);
  *attributes = {};
  attributes->numRegs = kernel.registers;
  attributes->maxThreadsPerBlock = kernel.max_threads;
  attributes->sharedSizeBytes = kernel.static_shared;
  attributes->localSizeBytes = kernel.local;
  attributes->maxDynamicSharedSizeBytes = static_cast<int>(described_gpu().sharedMemPerBlock - kernel.static_shared);
  attributes->ptxVersion = attributes->binaryVersion = 10 * described_gpu().major + described_gpu().minor;
  return cudaSuccess;
}

cudaError_t set_attribute(const void* function, cudaFuncAttribute attribute, int value) {
  switch (attribute) {
    case cudaFuncAttributeMaxDynamicSharedMemorySize: return set_preference(function, "max_dynamic_shared", value);
    case cudaFuncAttributePreferredSharedMemoryCarveout: return set_preference(function, "shared_carveout", value);
    case cudaFuncAttributeNonPortableClusterSizeAllowed: return set_preference(function, "non_portable_cluster", value);
    case cudaFuncAttributeRequiredClusterWidth: return set_preference(function, "cluster_width", value);
    case cudaFuncAttributeRequiredClusterHeight: return set_preference(function, "cluster_height", value);
    case cudaFuncAttributeRequiredClusterDepth: return set_preference(function, "cluster_depth", value);
    case cudaFuncAttributeClusterSchedulingPolicyPreference:
      return set_preference(function, "cluster_scheduling_policy", value);
    default: return cudaErrorInvalidValue;
  }
}
cudaError_t set_preference(const void* function, const char* name, int value) {
  Recorder::current().add_attribute(function, name, value);
  return cudaSuccess;
}

}  // namespace warpwright

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  if (device != 0) return cudaErrorInvalidDevice;
  *properties = described_gpu();
  return cudaSuccess;
}

cudaError_t cudaMemGetInfo(size_t* free, size_t* total) {
  *free = *total = described_gpu().totalGlobalMem;
  return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  if (device != 0) return cudaErrorInvalidDevice;
  const cudaDeviceProp& p = described_gpu();
  switch (attribute) {
    case cudaDevAttrMaxThreadsPerBlock: *value = p.maxThreadsPerBlock; break;
    case cudaDevAttrMaxBlockDimX: *value = p.maxThreadsDim[0]; break;
    case cudaDevAttrMaxBlockDimY: *value = p.maxThreadsDim[1]; break;
    case cudaDevAttrMaxBlockDimZ: *value = p.maxThreadsDim[2]; break;
    case cudaDevAttrMaxGridDimX: *value = p.maxGridSize[0]; break;
    case cudaDevAttrMaxGridDimY: *value = p.maxGridSize[1]; break;
    case cudaDevAttrMaxGridDimZ: *value = p.maxGridSize[2]; break;
    case cudaDevAttrMaxSharedMemoryPerBlock: *value = static_cast<int>(p.sharedMemPerBlock); break;
    case cudaDevAttrTotalConstantMemory: *value = static_cast<int>(p.totalConstMem); break;
    case cudaDevAttrWarpSize: *value = p.warpSize; break;
    case cudaDevAttrMaxRegistersPerBlock: *value = p.regsPerBlock; break;
    case cudaDevAttrClockRate: *value = p.clockRate; break;
    case cudaDevAttrMultiProcessorCount: *value = p.multiProcessorCount; break;
    case cudaDevAttrConcurrentKernels: *value = p.concurrentKernels; break;
    case cudaDevAttrL2CacheSize: *value = p.l2CacheSize; break;
    case cudaDevAttrMaxThreadsPerMultiProcessor: *value = p.maxThreadsPerMultiProcessor; break;
    case cudaDevAttrComputeCapabilityMajor: *value = p.major; break;
    case cudaDevAttrComputeCapabilityMinor: *value = p.minor; break;
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor: *value = static_cast<int>(p.sharedMemPerMultiprocessor); break;
    case cudaDevAttrMaxRegistersPerMultiprocessor: *value = p.regsPerMultiprocessor; break;
    case cudaDevAttrCooperativeLaunch: *value = p.cooperativeLaunch; break;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin: *value = static_cast<int>(p.sharedMemPerBlockOptin); break;
    case cudaDevAttrMaxBlocksPerMultiprocessor: *value = p.maxBlocksPerMultiProcessor; break;
    case cudaDevAttrReservedSharedMemoryPerBlock: *value = static_cast<int>(p.reservedSharedMemPerBlock); break;
    case cudaDevAttrMemoryPoolsSupported: *value = 1; break;
    case cudaDevAttrClusterLaunch: *value = p.clusterLaunch; break;
    default: unsupported("this attribute of cudaDeviceGetAttribute");  // or unknown for the target
  }
  return cudaSuccess;
}

namespace at::cuda {
cudaDeviceProp* getCurrentDeviceProperties() { return &target().properties; }
cudaDeviceProp* getDeviceProperties(int64_t) { return &target().properties; }
}  // namespace at::cuda
