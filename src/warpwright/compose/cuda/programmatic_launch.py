"""Kernels that follow each other without a pause, in sources that launch several.

A launch takes about a microsecond, in which the GPU would do nothing. Here each kernel is launched while the one before
it still runs, and waits for it by itself. What came earlier is done by then: a kernel lets the next one come only after
it has waited itself. For the same reason a kernel need not wait for what was there before the call: it may say itself
where it waits, and have that on its way.
"""

from __future__ import annotations

import re

WAITING = """\
// Waits for what the kernel before this one leaves. From here on the next one may be launched, and wait as well.
__device__ void await_results() {
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

// Launches a kernel while the one before it still runs. GPUs before Hopper take one after the other.
template <typename... Parameters, typename... Arguments>
void launch_next(void (*kernel)(Parameters...), dim3 grid, dim3 block, size_t shared, const Arguments&... arguments) {
    cudaLaunchAttribute early = {};
    early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    early.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = grid;
    config.blockDim = block;
    config.dynamicSmemBytes = shared;
    config.stream = at::cuda::getCurrentCUDAStream();
    config.attrs = &early;
    config.numAttrs = at::cuda::getCurrentDeviceProperties()->major >= 9 ? 1 : 0;
    C10_CUDA_CHECK(cudaLaunchKernelEx(&config, kernel, static_cast<Parameters>(arguments)...));
}"""
AWAIT = "await_results();"
_KERNEL = re.compile(r"(__global__[^{]*\) \{\n)(.*?)(?=^\})", re.DOTALL | re.MULTILINE)
_LAUNCH = re.compile(r"kernel<<<(.+), at::cuda::getCurrentCUDAStream\(\)>>>\((\n)?")
_ASKED = re.compile(r"\n *C10_CUDA_KERNEL_LAUNCH_CHECK\(\);")


def overlapped(text: str) -> str:
    """The same with kernels that wait, and launches that do not."""
    text = _LAUNCH.sub(lambda found: f"launch_next(kernel, {found[1]},{found[2] or ' '}", text)
    return _ASKED.sub("", _KERNEL.sub(_waiting, text))


def _waiting(kernel: re.Match[str]) -> str:
    """Where it does not say itself when it waits, it does so first of all."""
    head, body = kernel.groups()
    return f"{head}{body}" if AWAIT in body or "griddepcontrol" in body else f"{head}    {AWAIT}\n{body}"


def one_by_one(text: str) -> str:
    """The same with kernels that need not wait."""
    return re.sub(rf"^ *{re.escape(AWAIT)}\n", "", text, flags=re.MULTILINE)
