// A CUDA runtime for host objects compiled by nvcc: it knows every kernel by registration and records launches.
//
// The toolkit declares its functions with C names; ours have C++ names. What both spell alike is joined by the linker;
// what differs, or is only a template of ours, is here. Sizes of parameters come from the cubin, in a table that is
// generated for each program.
#include <cstring>
#include <cctype>
#include <map>
#include <string>

#include "facts.h"
#include "warpwright/capture.h"

namespace warpwright {
struct Signature {
  const char* kernel;
  int count;
  const int* bytes;
};
}  // namespace warpwright

extern const warpwright::Signature warpwright_signatures[];

namespace {

using warpwright::Signature;

struct Pending {
  dim3 grid, block;
  size_t shared;
  cudaStream_t stream;
};

// nvcc names anonymous namespaces after the path, the options and more; the cubin was made in another folder.
std::string without_digests(std::string name) {
  for (std::string mark : {"_GLOBAL__N__", "_INTERNAL_"})
    for (size_t at = name.find(mark); at != std::string::npos; at = name.find(mark)) {
      size_t digits = at;
      while (digits > 0 && std::isdigit(static_cast<unsigned char>(name[digits - 1]))) --digits;
      const size_t length = digits < at ? std::stoul(name.substr(digits, at - digits)) : mark.size();
      name.replace(digits, at - digits + length, "@");
    }
  return name;
}

std::map<const void*, std::string>& kernels() {
  static std::map<const void*, std::string> names;
  return names;
}

std::map<const void*, size_t>& variables() {
  static std::map<const void*, size_t> sizes;
  return sizes;
}

Pending pending;

cudaError_t record(const void* function, const warpwright::Configuration& configuration, void** arguments) {
  warpwright::configure(configuration);
  warpwright::begin_launch();
  for (const Signature* it = warpwright_signatures; it->kernel; ++it) {
    if (kernels()[function] != without_digests(it->kernel)) continue;
    for (int i = 0; i < it->count; ++i) warpwright::add_argument(arguments[i], it->bytes[i]);
  }
  warpwright::end_launch(function);
  return cudaSuccess;
}

cudaError_t launch(const void* function, dim3 grid, dim3 block, void** arguments, size_t shared, cudaStream_t stream,
                   bool cooperative) {
  warpwright::Configuration configuration;
  configuration.grid = grid;
  configuration.block = block;
  configuration.shared = shared;
  configuration.stream = stream;
  configuration.cooperative = cooperative;
  return record(function, configuration, arguments);
}

}  // namespace

#define OF(name) reinterpret_cast<const void*>(&name)
// Inline functions of our headers: their addresses are taken so that they exist for the linker.
[[gnu::used]] static const void* const inline_functions[] = {
    OF(cudaStreamDestroy), OF(cudaStreamSynchronize), OF(cudaStreamQuery), OF(cudaStreamWaitEvent),
    OF(cudaStreamIsCapturing), OF(cudaEventDestroy), OF(cudaEventRecord), OF(cudaEventSynchronize),
    OF(cudaEventQuery), OF(cudaEventElapsedTime), OF(cudaDeviceSynchronize), OF(cudaGetDevice), OF(cudaSetDevice),
    OF(cudaGetDeviceCount), OF(cudaDriverGetVersion), OF(cudaRuntimeGetVersion), OF(cudaDeviceSetLimit),
    OF(cudaDeviceSetCacheConfig), OF(cudaDeviceReset), OF(cudaCtxResetPersistingL2Cache)};

#define NAMED(name) __asm__(#name)
#define GIVEN(member) *facts++ = static_cast<long long>(source.member);

extern "C" {

void** hostlink_register_binary(void*) NAMED(__cudaRegisterFatBinary);
void** hostlink_register_binary(void*) {
  static void* handle;
  return &handle;
}
void hostlink_registered(void**) NAMED(__cudaRegisterFatBinaryEnd);
void hostlink_registered(void**) {}
void hostlink_unregister(void**) NAMED(__cudaUnregisterFatBinary);
void hostlink_unregister(void**) {}
char hostlink_initialise(void**) NAMED(__cudaInitModule);
char hostlink_initialise(void**) { return 0; }

void hostlink_register(void**, const char* host, char*, const char* device, int, void*, void*, void*, void*, int*)
    NAMED(__cudaRegisterFunction);
void hostlink_register(void**, const char* host, char*, const char* device, int, void*, void*, void*, void*, int*) {
  kernels()[host] = without_digests(device);
}
void hostlink_variable(void**, char* host, char*, const char*, int, size_t bytes, int, int) NAMED(__cudaRegisterVar);
void hostlink_variable(void**, char* host, char*, const char*, int, size_t bytes, int, int) {
  variables()[host] = bytes;
}

unsigned hostlink_push(dim3 grid, dim3 block, size_t shared, cudaStream_t stream) NAMED(__cudaPushCallConfiguration);
unsigned hostlink_push(dim3 grid, dim3 block, size_t shared, cudaStream_t stream) {
  pending = {grid, block, shared, stream};
  return 0;
}
cudaError_t hostlink_pop(dim3* grid, dim3* block, size_t* shared, cudaStream_t* stream)
    NAMED(__cudaPopCallConfiguration);
cudaError_t hostlink_pop(dim3* grid, dim3* block, size_t* shared, cudaStream_t* stream) {
  *grid = pending.grid, *block = pending.block, *shared = pending.shared, *stream = pending.stream;
  return cudaSuccess;
}
cudaError_t hostlink_kernel(const void** kernel, const void* function) NAMED(__cudaGetKernel);
cudaError_t hostlink_kernel(const void** kernel, const void* function) {
  *kernel = function;
  return cudaSuccess;
}
cudaError_t hostlink_launch(const void* function, dim3 grid, dim3 block, void** arguments, size_t shared,
                            cudaStream_t stream) NAMED(__cudaLaunchKernel);
cudaError_t hostlink_launch(const void* function, dim3 grid, dim3 block, void** arguments, size_t shared,
                            cudaStream_t stream) {
  return launch(function, grid, block, arguments, shared, stream, false);
}
cudaError_t hostlink_plain(const void* function, dim3 grid, dim3 block, void** arguments, size_t shared,
                           cudaStream_t stream) NAMED(cudaLaunchKernel);
cudaError_t hostlink_plain(const void* function, dim3 grid, dim3 block, void** arguments, size_t shared,
                           cudaStream_t stream) {
  return launch(function, grid, block, arguments, shared, stream, false);
}
cudaError_t hostlink_cooperative(const void* function, dim3 grid, dim3 block, void** arguments, size_t shared,
                                 cudaStream_t stream) NAMED(cudaLaunchCooperativeKernel);
cudaError_t hostlink_cooperative(const void* function, dim3 grid, dim3 block, void** arguments, size_t shared,
                                 cudaStream_t stream) {
  return launch(function, grid, block, arguments, shared, stream, true);
}
cudaError_t hostlink_extended(const cudaLaunchConfig_t* config, const void* function, void** arguments)
    NAMED(cudaLaunchKernelExC);
cudaError_t hostlink_extended(const cudaLaunchConfig_t* config, const void* function, void** arguments) {
  return record(function, warpwright::configuration_of(config), arguments);
}

void hostlink_device_facts(long long* facts, char* name) {
  cudaDeviceProp source;
  cudaGetDeviceProperties(&source, 0);
  std::memcpy(name, source.name, sizeof source.name);
  WARPWRIGHT_DEVICE_FACTS(GIVEN)
}
void hostlink_function_facts(long long* facts, const void* function) {
  cudaFuncAttributes source;
  warpwright::attributes_of(&source, function);
  WARPWRIGHT_FUNCTION_FACTS(GIVEN)
}

cudaError_t hostlink_last_error() NAMED(cudaGetLastError);
cudaError_t hostlink_last_error() { return cudaSuccess; }
cudaError_t hostlink_peek_error() NAMED(cudaPeekAtLastError);
cudaError_t hostlink_peek_error() { return cudaSuccess; }
cudaError_t hostlink_attribute(const void* function, cudaFuncAttribute attribute, int value)
    NAMED(cudaFuncSetAttribute);
cudaError_t hostlink_attribute(const void* function, cudaFuncAttribute attribute, int value) {
  return warpwright::set_attribute(function, attribute, value);
}
cudaError_t hostlink_blocks(int* blocks, const void* function, int block, size_t shared, unsigned)
    NAMED(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags);
cudaError_t hostlink_blocks(int* blocks, const void* function, int block, size_t shared, unsigned) {
  return warpwright::active_blocks(blocks, function, block, shared);
}
cudaError_t hostlink_some_blocks(int* blocks, const void* function, int block, size_t shared)
    NAMED(cudaOccupancyMaxActiveBlocksPerMultiprocessor);
cudaError_t hostlink_some_blocks(int* blocks, const void* function, int block, size_t shared) {
  return warpwright::active_blocks(blocks, function, block, shared);
}
cudaError_t hostlink_to_symbol(const void* symbol, const void* source, size_t bytes, size_t offset,
                               cudaMemcpyKind kind) NAMED(cudaMemcpyToSymbol);
cudaError_t hostlink_to_symbol(const void* symbol, const void* source, size_t bytes, size_t offset,
                               cudaMemcpyKind kind) {
  return warpwright::to_symbol(symbol, variables()[symbol], source, bytes, offset, kind);
}
cudaError_t hostlink_to_symbol_async(const void* symbol, const void* source, size_t bytes, size_t offset,
                                     cudaMemcpyKind kind, cudaStream_t) NAMED(cudaMemcpyToSymbolAsync);
cudaError_t hostlink_to_symbol_async(const void* symbol, const void* source, size_t bytes, size_t offset,
                                     cudaMemcpyKind kind, cudaStream_t) {
  return warpwright::to_symbol(symbol, variables()[symbol], source, bytes, offset, kind);
}
cudaError_t hostlink_symbol_address(void** pointer, const void* symbol) NAMED(cudaGetSymbolAddress);
cudaError_t hostlink_symbol_address(void** pointer, const void* symbol) {
  return warpwright::symbol_address(pointer, symbol, variables()[symbol]);
}
}
