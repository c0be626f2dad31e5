// The recorder: records the device operations of host code instead of executing them.
//
// CONTRACT between the compiler front and plans (Python) and the headers and recorder (C++).
//
// 1. Building a capture program
//   include/       the surface of torch, c10, pybind11 and cuBLAS: on the path of nvcc and of g++
//   include-host/  stand-ins for the toolkit's headers: on the path of g++ only, before include/
//   recorder/      *.cpp, compiled once with the compile flags below (any -O) and linked into every capture program
//   compile:    g++ -c -x c++ -std=c++20 -O0 -w -DWARPWRIGHT_CAPTURE -I include-host -I include
//                   -include warpwright/capture.h rewritten.cpp        (warpwright/capture.h is what to precompile)
//   link:       g++ -pie user.o recorder/*.o -ldl                                (not stripped; main is in recorder/)
//   warpwright/capture.h is the umbrella: all our headers and the standard headers torch brings along. Every header of
//   ours has an #ifndef guard. It defines __CUDACC__, __NVCC__ and __CUDACC_VER_*__ for the user's text.
//   The words __global__ __device__ __host__ __shared__ __constant__ __managed__ __grid_constant__ __launch_bounds__
//   __cluster_dims__ __maxnreg__ __block_size__ __forceinline__ __noinline__ __inline__ are macros that g++ can compile
//   with (__global__ is __attribute__((noinline, used)); the others vanish or become inline); the front undefines them
//   after capture.h, so that it sees them in the user's text.
//   nvcc: nvcc -cubin -std=c++20 -arch=... -I include user.cu, with the toolkit's own cuda_runtime.h and kin.
//
// 2. What the front writes
//   k<<<grid, block, shared, stream>>>(args)    ->  (::warpwright::configure(grid, block, shared, stream), k(args))
//   body of each __global__ function            ->  { ::warpwright::launched(::warpwright::here(), name1, pack...); }
//                                                   (unnamed parameters get a name; no parameters: launched(here()))
//   bodies of __device__ functions              ->  dropped (declaration) or stubbed; __host__ __device__ keep theirs
//   __device__/__constant__/__managed__ variables stay ordinary host variables: their address names the symbol
//   cudaLaunchKernel, cudaLaunchKernelEx(C), cudaLaunchCooperativeKernel: nothing to rewrite
//
// 3. Running it:  program REQUESTS TRACE_FD
//   REQUESTS is a file with one JSON request per line; each gives one JSON line on the descriptor TRACE_FD, in order.
//   Fewer lines than requests: the program died. All calls of one run share the process (static state survives).
//   request: {"entry": "forward",
//             "arguments": [VALUE, ...], "keywords": {"name": VALUE},                  keywords optional
//             "buffers": [{"base": ADDRESS, "bytes": N}, ...],                     memory behind the tensor arguments
//             "scratch": {"base": ADDRESS, "gap": BYTES},   each new buffer: 512-aligned after the last one's end + gap
//             "gpu": {"name": "...", "major": 9, "minor": 0, "multiprocessors": 132, ...},   section 5
//             "kernels": [{"code": CODE, "registers": R, "static_shared": B, "local": B, "max_threads": T}]}  optional
//   VALUE:   {"tensor": {"buffer": I, "offset": BYTES, "shape": [..], "stride": [ELEMENTS..], "dtype": "float32",
//                        "requires_grad": false}}                      buffer indexes "buffers"; requires_grad optional
//            {"int": 3} {"float": 1.5} {"bool": true} {"string": "mean"} {"none": null} {"list": [VALUE..]}
//            {"dtype": "float16"}
//   "entry": null lists what is bound: {"outcome": "entries", "entries": [{"name": "forward", "parameters": [
//            {"type": "tensor|int|float|...", "name": "x"|null, "default": bool}], "library": null|"mylib"}]}
//   An entry of TORCH_LIBRARY(mylib, m) answers to "op" and to "mylib::op".
//
// 4. The trace (hostile plain data: the candidate shares the process)
//   {"outcome": "captured|error|unsupported|reads_device_data", "what": "...", "message": "...",
//    "buffers": [...], "nodes": [...], "attributes": [...], "queries": [...], "arguments": [VALUE..], "returns": VALUE}
//   error:        what is "check" (TORCH_CHECK and kin), "cuda" (a failed cuda/cublas call), "exception", "arguments"
//                 (count or type mismatch), "entry" (no such entry) or "binding" (module initialisation threw)
//   unsupported:  what is the name, such as "at::foo" or "cudaGraphLaunch"
//   reads_device_data: what is the call, such as "Tensor.item" or "cudaMemcpy device to host"
//   The last two stick: host code that catches them and goes another way is reported with the first one.
//   The keys what and message are "" when captured; nodes so far are given in every case. "arguments" are the views of
//   the tensor arguments (flat, in order) as they are after the call; "returns" is a VALUE, or {"none": null} for void;
//   {"tuple": [...]} and {"dict": {...}} also occur there. A tensor VALUE of the trace is {"tensor": VIEW}.
//   Buffer ids index "buffers": those of the request first, then scratch and symbols in order of birth.
//   buffer: {"base": ADDRESS, "bytes": N, "origin": "argument|scratch|symbol|retained", "symbol": CODE|null,
//            "born": NODE, "freed": NODE|null}       NODE = number of nodes recorded at that moment; freed = host code
//            dropped the last reference (a returned or live tensor has null). Addresses are never reused in a request.
//            retained: memory of an earlier request that the host code kept. Give each request of a process its own
//            scratch base, so that a kept pointer cannot coincide with a new buffer.
//   VIEW:   {"buffer": I, "offset": BYTES, "shape": [..], "stride": [ELEMENTS..], "dtype": "float32"}
//           {"host": true, "shape":.., "stride":.., "dtype":.., "data": HEX} is a CPU tensor that the host code made;
//           its data are the elements in the order of the shape.
//   CODE:   address in the program file (ELF virtual address). A launch gives an address inside the stub's function
//           (find the FUNC symbol that covers it); attributes and queries its first byte. A symbol is an OBJECT.
//   nodes, in order; HEX is lower-case hexadecimal text:
//   {"op": "launch", "code": CODE, "grid": [x,y,z], "block": [x,y,z], "cluster": [x,y,z], "shared": BYTES,
//    "cooperative": false, "attributes": {"name": INT}, "stream": S, "arguments": [HEX, ...]}
//                                                     S: 0 the current stream, 1.. streams the host code made or took
//   {"op": "fill", "target": VIEW, "value": NUMBER|BOOL}
//   {"op": "memset", "buffer": I, "offset": BYTES, "bytes": N, "value": BYTE}
//   {"op": "upload", "buffer": I, "offset": BYTES, "data": HEX}
//   {"op": "copy", "source": I, "source_offset": BYTES, "target": I, "target_offset": BYTES, "bytes": N}
//   {"op": "library", "operation": "addmm", "inputs": [VIEW|null..], "outputs": [VIEW..], "options": {..}}
//       operation is an aten name with its overload when it has one ("add.Tensor", "sum.dim_IntList"); inputs are the
//       schema's tensor arguments in order (a tensor list is spliced in), options its other arguments by their schema
//       names; the results are to be written to outputs. dtypes in options are {"dtype": "float16"}. Two are special:
//       "copy_": outputs[0].copy_(inputs[0]); "cublas.gemm": C = alpha*A@B + beta*C with inputs [C, A, B], outputs [C],
//       options {alpha, beta, compute}.
//   attributes: {"code": CODE, "name": "max_dynamic_shared", "value": N, "node": NODE}
//       names: max_dynamic_shared, shared_carveout, non_portable_cluster, cluster_width|height|depth,
//       cluster_scheduling_policy, cache_config, shared_bank_size
//   queries: {"name": "occupancy|attributes", "code": CODE, "block": N, "shared": BYTES, "known": bool}: the answer
//       depends on registers; known is false when "kernels" had no entry and 32 registers were assumed. Capture again
//       with "kernels" filled in from ptxas to make it exact.
//   Numbers may be NaN, Infinity or -Infinity, as Python's json reads them.
//
// 5. "gpu" keys, none of them optional: name, major, minor, multiprocessors, global_memory, shared_per_block,
//    shared_per_block_optin, shared_per_multiprocessor, reserved_shared_per_block, registers_per_block,
//    registers_per_multiprocessor, threads_per_multiprocessor, blocks_per_multiprocessor, threads_per_block, l2,
//    clock_khz, cluster_blocks, register_granularity, shared_granularity; max_block and max_grid are lists of three.
//    The first request's GPU is also what constructors of the program's globals see.
#ifndef WARPWRIGHT_RECORD_H
#define WARPWRIGHT_RECORD_H

#ifdef WARPWRIGHT_CAPTURE
#include <driver_types.h>

#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>
#include <vector>

namespace warpwright {

struct Configuration {
  dim3 grid, block, cluster;
  size_t shared = 0;
  cudaStream_t stream = nullptr;
  bool cooperative = false;
  std::vector<std::pair<const char*, int64_t>> attributes;
  void** packed = nullptr;  // arguments by address, as cudaLaunchKernel has them
};

void configure(dim3 grid, dim3 block, size_t shared = 0, cudaStream_t stream = nullptr);
void configure(const Configuration& configuration);

// An address inside the function that calls it. It is never the last call there, so it cannot become a jump.
const void* here();

void begin_launch();
const void* packed_argument(size_t position);
void add_argument(const void* bytes, size_t size);
void end_launch(const void* code);

template <class T>
void add_argument_image(const T& value, size_t position) {
  alignas(T) unsigned char image[sizeof(T)];
  const void* packed = packed_argument(position);
  std::memcpy(image, packed ? packed : static_cast<const void*>(&value), sizeof(T));
  if constexpr (std::is_class<T>::value && std::is_trivially_copyable<T>::value)
    __builtin_clear_padding(reinterpret_cast<T*>(image));
  add_argument(image, sizeof(T));
}

// A launch by cudaLaunchKernel calls the stub without arguments: only the types of the parameters are used then.
template <class... P>
void launched(const void* code, const P&... parameters) {
  begin_launch();
  [[maybe_unused]] size_t position = 0;
  (add_argument_image(parameters, position++), ...);
  end_launch(code);
}

// A kernel called through its type: cudaLaunchKernelEx and related functions convert the arguments like a plain call.
template <class... P, class... A>
void launch(const Configuration& configuration, void (*kernel)(P...), A&&... arguments) {
  configure(configuration);
  kernel(static_cast<P>(std::forward<A>(arguments))...);
}

}  // namespace warpwright
#endif

#endif
