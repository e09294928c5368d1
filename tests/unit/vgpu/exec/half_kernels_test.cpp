// Kernels of 16-bit floats, as cuda_fp16.h and cuda_bf16.h compile them: bit-exact results, exact FLOPs.
#include <bit>
#include <cmath>
#include <functional>

#include "tests/support/kernel_runner.h"

namespace roofwalk::test {
namespace {

// Rounds to binary16 by `round`: 11 significant bits, none below 2^-24. Exact for the numbers in these tests.
float to_half(double x, double (*round)(double) = std::nearbyint) {
  if (x == 0) return static_cast<float>(x);
  const double step = std::ldexp(1.0, std::max(std::ilogb(x), -14) - 10);
  const double rounded = round(x / step) * step;
  return static_cast<float>(std::fabs(rounded) > 65504 ? std::copysign(INFINITY, x) : rounded);
}
float to_bfloat(double x) {
  const double step = std::ldexp(1.0, std::ilogb(x) - 7);
  return static_cast<float>(x == 0 ? 0 : std::nearbyint(x / step) * step);
}

TEST(Half, Axpy) {
  const std::string& kText = JOINT(R"(#include <roofwalk.cuh>
#include <cuda_fp16.h>
__global__ void axpy(const float2* x, const float2* y, half2* out, float a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  half2 scale = __float2half2_rn(a);
  if (i < n) out[i] = __hfma2(scale, __float22half2_rn(x[i]), __float22half2_rn(y[i]));
}
SOLVE(const float* x, const float* y, float* out, float a, int n) {
  axpy<<<ceil_div(n, 64), 64>>>((const float2*)x, (const float2*)y, (half2*)out, a, n);
}
)");
  constexpr int n = 1000;
  Buffer x{"x", numbers(2 * n, 2039)}, y{"y", numbers(2 * n, 97)}, out{"out", std::vector<float>(n)};
  const float a = 0x1.55p-3f;
  const auto record = Runner().run(kText, {&x, &y, &out, a, n});
  ASSERT_TRUE(record.ok()) << record.error().text();
  ASSERT_FALSE(record->fault) << record->fault->message;
  EXPECT_EQ(record->counters[Counter::flops_f16], 4u * n);
  EXPECT_EQ(record->counters[Counter::flops_f32], 0u);
  for (int i = 0; i < n; ++i) {
    const auto pair = std::bit_cast<std::uint32_t>(out.values[i]);
    for (int part = 0; part < 2; ++part) {
      const auto bits = static_cast<std::uint16_t>(pair >> (16 * part));
      const int magnitude = bits & 0x7fff, fraction = bits & 0x3ff;
      const double value =
          magnitude < 0x400 ? std::ldexp(fraction, -24) : std::ldexp(fraction | 0x400, (magnitude >> 10) - 25);
      const double exact = static_cast<double>(a) * x.values[2 * i + part] + y.values[2 * i + part];
      ASSERT_EQ((bits & 0x8000) != 0 ? -value : value, to_half(exact)) << i;
    }
  }
}

// An expression of two numbers `a` and `b`, or of the pairs a2 = (a, b) and b2 = (b, a), and its expected value.
struct Line {
  const char* code;
  std::function<double(double, double)> expected;
};

void expect_lines(const char* header, const char* type, const std::vector<Line>& lines) {
  std::string text = std::string("#include <roofwalk.cuh>\n#include <") + header +
                     ">\n__global__ void k(const float* x, float* y, int n) {\n"
                     "  int i = threadIdx.x;\n  if (i >= n) return;\n";
  text += std::string("  const ") + type + " a = (" + type + ")x[2 * i], b = (" + type + ")x[2 * i + 1];\n";
  text += "  const auto a2 = pair_of(a, b), b2 = pair_of(b, a);\n";
  const std::string pair = std::string(type) == "half" ? "half2" : "__nv_bfloat162";
  text.insert(text.find("__global__"), "__device__ auto pair_of(" + std::string(type) + " low, " + type + " high) { " +
                                           pair + " both; both.x = low; both.y = high; return both; }\n");
  for (std::size_t l = 0; l < lines.size(); ++l) {
    text += "  y[" + std::to_string(l) + " * n + i] = (float)(" + lines[l].code + ");\n";
  }
  text += "}\nSOLVE(const float* x, float* y, int n) { k<<<1, 64>>>(x, y, n); }\n";
  const std::vector<float> values = {0,        1,         -1, 2.5f, -0.125f,   1024, -1536,
                                     0x1p-14f, 0x1.8p-3f, 33, -47,  0x1.04p2f, 100,  7};
  Buffer x{"x", {}};
  for (std::size_t i = 0; i < values.size(); ++i) {
    for (std::size_t j : {std::size_t{0}, std::size_t{1}, std::size_t{3}, std::size_t{6}}) {
      x.values.push_back(values[i]);
      x.values.push_back(values[(i + j) % values.size()]);
    }
  }
  const int n = static_cast<int>(x.values.size() / 2);
  Buffer y{"y", std::vector<float>(lines.size() * static_cast<std::size_t>(n))};
  const auto record = Runner().run(text, {&x, &y, n});
  ASSERT_TRUE(record.ok()) << record.error().text();
  ASSERT_FALSE(record->fault) << record->fault->message;
  for (std::size_t l = 0; l < lines.size(); ++l) {
    for (std::size_t i = 0; i < x.values.size() / 2; ++i) {
      const float a = x.values[2 * i], b = x.values[2 * i + 1];
      ASSERT_EQ(y.values[l * static_cast<std::size_t>(n) + i], lines[l].expected(a, b))
          << lines[l].code << " of " << a << " and " << b;
    }
  }
}

TEST(Half, ArithmeticAndComparisonsOfOneAndOfTwo) {
  const auto sum = [](double a, double b) { return to_half(a + b); };
  const auto product = [](double a, double b) { return to_half(a * b); };
  expect_lines("cuda_fp16.h", "half",
               {{"a + b", sum},
                {"a - b", [](double a, double b) { return to_half(a - b); }},
                {"a * b", product},
                {"__hfma(a, b, b)", [](double a, double b) { return to_half(a * b + b); }},
                {"-a", [](double a, double) { return -a; }},
                {"__habs(a)", [](double a, double) { return std::fabs(a); }},
                {"__hmin(a, b)", [](double a, double b) { return std::min(a, b); }},
                {"__hmax(a, b)", [](double a, double b) { return std::max(a, b); }},
                {"__hadd_sat(a, b)", [](double a, double b) { return to_half(std::clamp(a + b, 0.0, 1.0)); }},
                {"a < b", std::less<double>()},
                {"__hgeu(a, b)", std::greater_equal<double>()},
                {"a != b", std::not_equal_to<double>()},
                {"__low2half(__hadd2(a2, b2))", sum},
                {"__high2half(__hsub2(a2, b2))", [](double a, double b) { return to_half(b - a); }},
                {"__high2half(__hmul2(a2, b2))", product},
                {"__high2half(__hfma2(a2, b2, a2))", [](double a, double b) { return to_half(a * b + b); }},
                {"__low2half(__hneg2(a2))", [](double a, double) { return -a; }},
                {"__high2half(__habs2(a2))", [](double, double b) { return std::fabs(b); }},
                {"__high2half(__hmin2(a2, a2))", [](double, double b) { return b; }},
                {"__low2half(__hmax2(a2, b2))", [](double a, double b) { return std::max(a, b); }},
                {"__low2half(__hlt2(a2, b2))", std::less<double>()},
                {"__high2half(__hgt2(a2, b2))", std::less<double>()},
                {"__hbeq2(a2, b2)", std::equal_to<double>()},
                {"__hble2(a2, b2)", std::equal_to<double>()},
                {"__hequ2_mask(a2, b2) == 0xffffffffu", std::equal_to<double>()}});
}

TEST(Half, Conversions) {
  const auto integer = [](double a, double) { return std::nearbyint(a); };
  expect_lines(
      "cuda_fp16.h", "half",
      {{"__half2int_rn(a)", integer},
       {"__half2int_rz(a)", [](double a, double) { return std::trunc(a); }},
       {"__half2uint_rz(a)", [](double a, double) { return std::max(std::trunc(a), 0.0); }},
       {"__half2short_rn(a)", integer},
       {"__half2ll_rz(a)", [](double a, double) { return std::trunc(a); }},
       {"hrint(a)", integer},
       {"hfloor(a)", [](double a, double) { return std::floor(a); }},
       {"__int2half_rn((int)x[2 * i] * 3 + 4094)", [](double a, double) { return to_half(std::trunc(a) * 3 + 4094); }},
       {"__int2half_rz(-2051)", [](double, double) { return -2050; }},
       {"__uint2half_rn(70000u + i)", [](double, double) { return INFINITY; }},
       {"__float2half_rz(x[2 * i] * 1.0007f)",
        [](double a, double) { return to_half(static_cast<float>(a) * 1.0007f, std::trunc); }},
       {"__double2half((double)x[2 * i] + 1e-9)", [](double a, double) { return to_half(a + 1e-9); }}});
}

TEST(Half, BFloats) {
  expect_lines("cuda_bf16.h", "__nv_bfloat16",
               {{"a * b", [](double a, double b) { return to_bfloat(a * b); }},
                {"a + b", [](double a, double b) { return to_bfloat(a + b); }},
                {"__hfma(a, b, b)", [](double a, double b) { return to_bfloat(a * b + b); }},
                {"__low2bfloat16(__hfma2(a2, b2, a2))", [](double a, double b) { return to_bfloat(a * b + a); }},
                {"__high2bfloat16(__hadd2(a2, b2))", [](double a, double b) { return to_bfloat(a + b); }},
                {"__high2bfloat16(__hmax2(a2, b2))", [](double a, double b) { return std::max(a, b); }},
                {"__high2bfloat16(__habs2(a2))", [](double, double b) { return std::fabs(b); }},
                {"__low2bfloat16(__floats2bfloat162_rn(x[2 * i] * 1.01f, 0))",
                 [](double a, double) { return to_bfloat(static_cast<float>(a) * 1.01f); }},
                {"a < b", std::less<double>()}});
}

}  // namespace
}  // namespace roofwalk::test
