// Global memory that nothing has written is not read.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/vgpu/sanitizer/judged_bodies.h"

namespace roofwalk::test {
namespace {

// Options of small trials, which run without the clock.
constexpr RunOptions kSmall{.sanitize = true, .time = RunOptions::Time::least};

// A kernel on global memory, and the text of its SOLVE. Nothing has written to `c` before.
struct Unwritten {
  const char* name;
  const char* kernel;
  const char* solve;
  const char* says;  // expected message; nullptr: no fault
};
const Unwritten kUnwritten[] = {
    {"sum_into_the_output", "c[t] += a[t];  // @", "k<<<2, 64>>>(a, c, c);",
     "uninitialized: reads c[0], which nothing has written"},
    {"atomic_sum", "atomicAdd(&c[t / 32], a[t]);  // @", "k<<<2, 64>>>(a, c, c);", "uninitialized: updates c[0]"},
    {"exchange", "c[t] = atomicExch(&s[t], a[t]);  // @", "k<<<2, 64>>>(a, c, scratch<float>(128));",
     "uninitialized: updates scratch 1[0]"},
    {"exchange_as_a_store", "atomicExch(&c[t], a[t]);", "k<<<2, 64>>>(a, c, c);", nullptr},
    {"after_a_memset", "atomicAdd(&c[t / 32], a[t]);", "cudaMemset(c, 0, 512);\n  k<<<2, 64>>>(a, c, c);", nullptr},
    {"scratch", "c[t] = s[t];  // @", "k<<<2, 64>>>(a, c, scratch<float>(128));", "uninitialized: reads scratch 1[0]"},
    {"one_element_missing", "if (t != 77) s[t] = a[t]; __syncthreads(); c[t] = s[t];  // @",
     "k<<<2, 64>>>(a, c, scratch<float>(128));", "uninitialized: reads scratch 1[77]"},
    {"one_element_missing_from_the_kernel_before",
     "if (c == s) {\n    if (t != 77) s[t] = a[t];\n  } else {\n    c[t] = s[t];  // @\n  }",
     "float* const s = scratch<float>(128);\n  k<<<2, 64>>>(a, s, s);\n  k<<<2, 64>>>(a, c, s);",
     "uninitialized: reads scratch 1[77]"},
    {"written_by_the_kernel_before", "if (s == a) c[t] = a[t]; else c[t] = s[t] + c[t];",
     "k<<<2, 64>>>(a, c, a);\n  k<<<2, 64>>>(a, c, c);", nullptr},
    {"copied", "c[t] = s[t];  // @",
     "float* const s = scratch<float>(128);\n  float* const u = scratch<float>(128);\n"
     "  cudaMemcpy(s, u, 512, cudaMemcpyDeviceToDevice);\n  k<<<2, 64>>>(a, c, s);",
     "uninitialized: reads scratch 1[0]"},
    {"partly", R"(if (t % 4 == 1) s[t] = a[t];
  __syncwarp();
  float4 read;
  asm volatile("ld.global.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(read.x), "=f"(read.y), "=f"(read.z), "=f"(read.w) : "l"(s + t / 4 * 4) : "memory");
  c[t] = read.y;)",
     "k<<<2, 64>>>(a, c, scratch<float>(128));", nullptr},
    {"partly_and_the_rest_decides", R"(if (t % 4 == 1) s[t] = a[t];
  __syncwarp();
  float x, y, z, w;
  asm volatile("ld.v4.f32 {%0, %1, %2, %3}, [%4];" : "=f"(x), "=f"(y), "=f"(z), "=f"(w) : "l"(s + t / 4 * 4));  // @
  c[t] = w == 3.0f ? 0.0f : y;)",
     "k<<<2, 64>>>(a, c, scratch<float>(128));",
     "uninitialized: reads scratch 1[0], a part of which nothing has written"},
    {"partly_and_the_rest_is_a_result", R"(if (t % 4 == 1) s[t] = a[t];
  __syncwarp();
  float x, y, z, w;
  asm volatile("ld.v4.f32 {%0, %1, %2, %3}, [%4];" : "=f"(x), "=f"(y), "=f"(z), "=f"(w) : "l"(s + t / 4 * 4));  // @
  c[t] = y + z;)",
     "k<<<2, 64>>>(a, c, scratch<float>(128));",
     "uninitialized: reads scratch 1[0], a part of which nothing has written"},
    {"asynchronously", R"(__shared__ float buffer[64];
  __pipeline_memcpy_async(&buffer[threadIdx.x], &s[t], 4);  // @
  __pipeline_commit();
  __pipeline_wait_prior(0);
  c[t] = buffer[threadIdx.x];)",
     "k<<<2, 64>>>(a, c, scratch<float>(128));", "uninitialized: reads scratch 1[0]"},
};
std::string unwritten_text(const Unwritten& each) {
  return std::string(
             "#include <cuda_pipeline.h>\n#include <roofwalk.cuh>\n__global__ void k(const float* a, float* c, "
             "float* s) {\n  const int t = blockIdx.x * 64 + threadIdx.x;\n  ") +
         each.kernel + "\n}\nSOLVE(float* a, float* c) {\n  " + each.solve + "\n}\n";
}
const bool kUnwrittenJoined = join(map_to_text(kUnwritten, unwritten_text));

void PrintTo(const Unwritten& unwritten, std::ostream* out) { *out << unwritten.name; }
class UnwrittenMemory : public testing::TestWithParam<Unwritten> {};

TEST_P(UnwrittenMemory, IsNotRead) {
  const std::string text = unwritten_text(GetParam());
  for (const bool sanitize : {true, false}) {
    Buffer a{"a", std::vector<float>(128, 1.0f)}, c{"c", std::vector<float>(128), /*undefined=*/true};
    const auto record = Runner().run(text, {&a, &c}, sanitize ? kSmall : RunOptions{});
    ASSERT_TRUE(record.ok()) << record.error().text();
    ASSERT_EQ(record->fault.has_value(), sanitize && GetParam().says != nullptr);
    if (!record->fault) continue;
    EXPECT_EQ(record->fault->kind, FaultKind::uninitialized);
    EXPECT_EQ(record->fault->line, line_of_mark(text));
    EXPECT_THAT(record->fault->message, testing::HasSubstr(GetParam().says));
  }
}

INSTANTIATE_TEST_SUITE_P(Sanitizer, UnwrittenMemory, testing::ValuesIn(kUnwritten),
                         [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace roofwalk::test
