// task: modern/bias_gelu  dtypes: fp32  style: Windows line ends, tabs, a backslash-continued macro across them
#include <torch/extension.h>
#include <math.h>

#define GELU(v) \
	(0.5f * (v) * \
	 (1.0f + erff((v) * 0.70710678118654752f)))

__global__ void bias_gelu(const float *x, const float *bias, float *y, int n, int d)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
	{
		float v = x[i] + bias[i % d];
		y[i] = GELU(v);
	}
}

torch::Tensor forward(torch::Tensor x, torch::Tensor bias)
{
	torch::Tensor y = torch::empty_like(x);
	int n = (int)x.numel();
	bias_gelu<<<(n + 255) / 256,
	            256>>>(x.data_ptr<float>(),
	                   bias.data_ptr<float>(),
	                   y.data_ptr<float>(), n, (int)x.size(-1));
	return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m)
{
	m.def("forward", &forward, "bias + gelu");
}
