// Tensor cores and intrinsics from CUDA C++: wmma.h, cuda_fp16.h, cuda_bf16.h, compiled by nvcc.
#include <bit>
#include <cmath>

#include "tests/support/kernel_runner.h"

namespace roofwalk::test {
namespace {

// Computes d = 2 * (a * b + c), one fragment each. The factors are in shared memory, and one of them is padded.
constexpr const char* kText = R"(#include <roofwalk.cuh>
#include <mma.h>
#include <cuda_fp16.h>
#include <cuda_bf16.h>
using namespace nvcuda;

template <class T> __device__ T factor(float x) { return T(x); }
template <> __device__ signed char factor<signed char>(float x) { return (signed char)x; }

template <class Use, class T, class Sum, int M, int N, int K, class OrderB>
__global__ void product(const float* a, const float* b, const float* c, float* d) {
  constexpr bool columns = std::is_same<OrderB, wmma::col_major>::value;
  __shared__ __align__(32) T sa[M * (K + 16)], sb[N * K];
  __shared__ __align__(32) Sum sc[M * N];
  for (int i = threadIdx.x; i < M * K; i += 32) sa[i / K * (K + 16) + i % K] = factor<T>(a[i]);
  for (int i = threadIdx.x; i < K * N; i += 32) sb[columns ? i % N * K + i / N : i] = factor<T>(b[i]);
  for (int i = threadIdx.x; i < M * N; i += 32) sc[i] = Sum(c[i]);
  __syncwarp();
  wmma::fragment<wmma::matrix_a, M, N, K, Use, wmma::row_major> fa;
  wmma::fragment<wmma::matrix_b, M, N, K, Use, OrderB> fb;
  wmma::fragment<wmma::accumulator, M, N, K, Sum> fc;
  wmma::load_matrix_sync(fa, sa, K + 16);
  wmma::load_matrix_sync(fb, sb, columns ? K : N);
  wmma::load_matrix_sync(fc, sc, N, wmma::mem_row_major);
  wmma::mma_sync(fc, fa, fb, fc);
  for (int i = 0; i < fc.num_elements; ++i) fc.x[i] = fc.x[i] * Sum(2.0f);
  wmma::store_matrix_sync(sc, fc, M, wmma::mem_col_major);
  __syncwarp();
  for (int i = threadIdx.x; i < M * N; i += 32) d[i] = float(sc[i % N * M + i / N]);
}

SOLVE(const float* a, const float* b, const float* c, float* d, int kind) {
  if (kind == 0) product<half, half, float, 16, 16, 16, wmma::row_major><<<1, 32>>>(a, b, c, d);
  if (kind == 1) product<half, half, half, 16, 16, 16, wmma::col_major><<<1, 32>>>(a, b, c, d);
  if (kind == 2) product<__nv_bfloat16, __nv_bfloat16, float, 32, 8, 16, wmma::col_major><<<1, 32>>>(a, b, c, d);
  if (kind == 3) product<wmma::precision::tf32, float, float, 16, 16, 8, wmma::row_major><<<1, 32>>>(a, b, c, d);
  if (kind == 4) product<signed char, signed char, int, 8, 32, 16, wmma::col_major><<<1, 32>>>(a, b, c, d);
  if (kind == 5) product<double, double, double, 8, 8, 4, wmma::col_major><<<1, 32>>>(a, b, c, d);
}
)";

TEST(Wmma, MultipliesWhatMmaHLoads) {
  const struct {
    int m, n, k;
    bool floats;
  } shapes[] = {{16, 16, 16, true}, {16, 16, 16, true}, {32, 8, 16, true},
                {16, 16, 8, true},  {8, 32, 16, false}, {8, 8, 4, true}};
  const auto artifact = compile(kText);
  ASSERT_TRUE(artifact.ok()) << artifact.error().text();
  for (int kind = 0; kind < 6; ++kind) {
    const auto [m, n, k, floats] = shapes[kind];
    Buffer a{"a", numbers(static_cast<std::size_t>(m * k), 13)}, b{"b", numbers(static_cast<std::size_t>(k * n), 11)};
    Buffer c{"c", numbers(static_cast<std::size_t>(m * n), 9)},
        d{"d", std::vector<float>(static_cast<std::size_t>(m * n))};
    const auto record = Runner().run(*artifact, {&a, &b, &c, &d, kind});
    ASSERT_TRUE(record.ok()) << record.error().text();
    ASSERT_FALSE(record->fault) << record->fault->message;
    for (int i = 0; i < m; ++i) {
      for (int j = 0; j < n; ++j) {
        double sum = c.values[static_cast<std::size_t>(i * n + j)];
        for (int x = 0; x < k; ++x)
          sum += static_cast<double>(a.values[static_cast<std::size_t>(i * k + x)]) *
                 b.values[static_cast<std::size_t>(x * n + j)];
        ASSERT_EQ(d.values[static_cast<std::size_t>(i * n + j)], 2 * sum) << kind << ": " << i << "," << j;
      }
    }
    EXPECT_EQ(record->counters[Counter::flops_tensor], floats ? 2u * static_cast<unsigned>(m * n * k) : 0u);
  }
}

// Each line is one intrinsic, with the result according to CUDA's manual.
TEST(Intrinsics, OfHalvesBytesAndBits) {
  constexpr const char* kIntrinsics = R"(#include <roofwalk.cuh>
#include <cuda_fp16.h>
#include <cuda_bf16.h>
__global__ void k(float* y, float nan) {
  int i = 0;
  auto put = [&](float x) { y[i++] = x; };
  put(__half2float(__hadd_sat(__float2half(0.75f), __float2half(0.5f))));
  put(__low2float(__hfma2_relu(__float2half2_rn(-2.0f), __float2half2_rn(3.0f), __float2half2_rn(1.0f))));
  put(isnan(__half2float(__hmax_nan(__float2half(1.0f), __float2half(nan)))));
  put(__half2float(__hmax(__float2half(1.0f), __float2half(nan))));
  put(__half2float(hexp2(__float2half(3.0f))));
  put(__half2float(__float2half_rd(1.0009f)));
  put(__half2float(__float2half_ru(1.0001f)));
  put(__half2int_rd(__float2half(-2.5f)));
  put(__bfloat162float(__hfma(__float2bfloat16(3.0f), __float2bfloat16(0.5f), __float2bfloat16(0.25f))));
  put(__dp4a(0x01ff02fe, 0x03040506, 7));
  put(__dp2a_lo(0x00020003, 0x00000504, 1));
  put(__byte_perm(0x33221100, 0x77665544, 0x7531) == 0x77553311);
  put(__funnelshift_l(0x80000000, 1, 1));
  put(__fdividef(6.0f, 3.0f));
  put(__fdiv_rd(1.0f, 3.0f) < __fdiv_ru(1.0f, 3.0f));
  put((float)(__dsqrt_ru(2.0) - __dsqrt_rd(2.0) > 0));
  put(__float2int_rd(-1.5f));
  put(__mul24(3, -5));
  put(__usad(3, 10, 1));
  put(__ffs(48));
}
SOLVE(float* y, float nan) { k<<<1, 1>>>(y, nan); }
)";
  Buffer y{"y", std::vector<float>(20)};
  const auto record = Runner().run(std::string(kIntrinsics), {&y, NAN});
  ASSERT_TRUE(record.ok()) << record.error().text();
  ASSERT_FALSE(record->fault) << record->fault->message;
  const std::vector<float> wanted = {
      1, 0, 1, 1, 8, 1,  1.0009765625f, -3, 1.75f, 1 * 3 - 1 * 4 + 2 * 5 - 2 * 6 + 7, 3 * 4 + 2 * 5 + 1,
      1, 3, 2, 1, 1, -2, -15,           8,  5};
  EXPECT_EQ(y.values, wanted);
}

}  // namespace
}  // namespace roofwalk::test
