// printf, assert and trap in kernels.
#include <algorithm>
#include <cstdio>

#include "common/base/json.h"
#include "tests/support/kernel_runner.h"

namespace roofwalk::test {
namespace {

std::string printing_kernel(const std::string& body, int blocks = 1, int threads = 1, const std::string& before = {}) {
  return "#include <roofwalk.cuh>\n#include <cstdio>\n#include <cassert>\n" + before +
         "__global__ void k(float* y, int n) {\n" + body + "\n}\nSOLVE(float* y, int n) { k<<<" +
         std::to_string(blocks) + ", " + std::to_string(threads) + ">>>(y, n); }\n";
}

Result<RunRecord> run_kernel(const std::string& text) {
  Buffer y{"y", std::vector<float>(64)};
  return Runner().run(text, {&y, 64});
}

std::string printed(const std::string& text) {
  const auto record = run_kernel(text);
  EXPECT_TRUE(record.ok()) << (record.ok() ? "" : record.error().text());
  if (!record.ok()) return {};
  EXPECT_FALSE(record->fault) << record->fault->message;
  return record->printed.text;
}

// Compares with the host library's output for the same format and values.
TEST(Print, EveryConversionAsTheHostHasIt) {
  char expected[512];
  std::snprintf(expected, sizeof expected,
                "%d|%5d|%-5d|%05d|%+d|% d|%.3d|%u|%o|%#o|%x|%#X|%hd|%hu|%c|%3c|%s|%10s|%-6.2s|%%|%i\n", -42, 7, 7, 42,
                5, 5, 7, 4000000000u, 8u, 8u, 48879u, 48879u, short(-3), (unsigned short)(65535), 'A', 'b', "text",
                "text", "text", 1);
  EXPECT_EQ(printed(JOINT(printing_kernel(
                R"(printf("%d|%5d|%-5d|%05d|%+d|% d|%.3d|%u|%o|%#o|%x|%#X|%hd|%hu|%c|%3c|%s|%10s|%-6.2s|%%|%i\n", -42,
    7, 7, 42, 5, 5, 7, 4000000000u, 8u, 8u, 48879u, 48879u, (short)-3, (unsigned short)65535, 'A', 'b', "text", "text",
    "text", 1);)"))),
            expected);
  std::snprintf(expected, sizeof expected, "%f|%.2f|%10.3e|%-12g|%G|%a|%E|%F|%+.0f|%#.0f|%g|%g|%lld|%llu|%lx|%ld\n",
                1.5, 2.675, 12345.678, 0.0001, 1e20, 1.0, 1.0, 2.5, 2.5, 3.0, double(INFINITY), 0.1f, -9000000000ll,
                18446744073709551615ull, 255ul, -1l);
  EXPECT_EQ(
      printed(JOINT(printing_kernel(
          R"(printf("%f|%.2f|%10.3e|%-12g|%G|%a|%E|%F|%+.0f|%#.0f|%g|%g|%lld|%llu|%lx|%ld\n", 1.5, 2.675, 12345.678,
    0.0001, 1e20, 1.0, 1.0, 2.5, 2.5, 3.0, 1.0 / (n - 64), 0.1f, -9000000000ll, 18446744073709551615ull, 255ul, -1l);)"))),
      expected);
  EXPECT_EQ(
      printed(JOINT(printing_kernel(
          R"(printf("%*d|%-*d|%.*f|%p|%12p|%s\n", 6, 42, 4, 7, 2, 3.14159, (void*)0x1234, (void*)0x10, (char*)nullptr);)"))),
      "    42|7   |3.14|0x1234|        0x10|(null)\n");
}

TEST(Print, TextOfEveryMemoryAndTheResult) {
  EXPECT_EQ(printed(JOINT(printing_kernel(R"(
  __shared__ char s[4];
  s[0] = 'o'; s[1] = 'k'; s[2] = 0;
  char mine[3] = {char('a' + n - 64), 'b', 0};
  const int count = printf("%s %s %d\n", s, mine, n);
  printf("%d %d\n", count, printf("plain\n"));)"))),
            "ok ab 64\nplain\n3 0\n");
}

// Output is ordered by block and thread, whatever order they ran in.
TEST(Print, OrderOfBlocksAndThreads) {
  std::string expected;
  for (int b = 0; b < 40; ++b) {
    for (int t = 0; t < 70; ++t)
      expected +=
          std::to_string(b) + "." + std::to_string(t) + "a\n" + std::to_string(b) + "." + std::to_string(t) + "b\n";
  }
  EXPECT_EQ(printed(JOINT(printing_kernel(R"(
  if (threadIdx.x < 32) __nanosleep(50);
  printf("%d.%da\n", blockIdx.x, threadIdx.x);
  __syncthreads();
  printf("%d.%db\n", blockIdx.x, threadIdx.x);)",
                                          40, 70))),
            expected);
}

TEST(Print, HostileFormatsAreSafe) {
  const std::string text = printed(JOINT(printing_kernel(R"(
  printf("%n %y %lld %", 1);
  printf("[%999999999999d] %.99999999f\n", 1, 1.0);
  printf("%s\n", (const char*)0x77);
  printf("\x1b[2Jc\x01l\xff\xfe\n");
  printf("%d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d|\n");)")));
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_NE(text.find("?[2Jc?l??\n"), std::string::npos) << text;
  EXPECT_NE(text.find("%n %y"), std::string::npos);
  EXPECT_NE(text.find("(no text there)\n"), std::string::npos);
  EXPECT_NE(text.find("%d %d %d|\n"), std::string::npos);
  EXPECT_LT(text.size(), 20'000u);
  EXPECT_EQ(valid_utf8(text), text);
}

TEST(Print, WhatIsTooMuchIsCounted) {
  const auto record = run_kernel(JOINT(printing_kernel(
      R"(printf("%06d and some more words to fill the line\n", blockIdx.x * 256 + threadIdx.x);)", 200, 256)));
  ASSERT_TRUE(record.ok()) << record.error().text();
  EXPECT_LT(record->printed.text.size(), 300'000u);
  EXPECT_EQ(record->printed.text.substr(0, 7), "000000 ");
  const auto lines =
      static_cast<std::uint64_t>(std::count(record->printed.text.begin(), record->printed.text.end(), '\n'));
  EXPECT_EQ(lines + record->printed.more_lines, 51'200u);
}

TEST(Print, AFaultKeepsWhatWasPrintedBefore) {
  const auto record =
      run_kernel(JOINT(printing_kernel("printf(\"before %d\\n\", threadIdx.x);\n y[n + threadIdx.x] = 1;", 1, 2)));
  ASSERT_TRUE(record.ok()) << record.error().text();
  ASSERT_TRUE(record->fault);
  EXPECT_EQ(record->printed.text, "before 0\nbefore 1\n");
}

TEST(Assert, NamesConditionLineAndThread) {
  const auto record = run_kernel(JOINT(
      printing_kernel("y[threadIdx.x] = 1;\nassert(threadIdx.x + 32 * blockIdx.x != 69 && \"too far\");", 3, 32)));
  ASSERT_TRUE(record.ok()) << record.error().text();
  ASSERT_TRUE(record->fault);
  EXPECT_EQ(record->fault->kind, FaultKind::assertion);
  EXPECT_EQ(record->fault->line, 6);
  EXPECT_EQ(record->fault->block.x, 2u);
  EXPECT_EQ(record->fault->thread.x, 5u);
  EXPECT_NE(record->fault->message.find("threadIdx.x + 32 * blockIdx.x != 69 && \"too far\""), std::string::npos)
      << record->fault->message;
}

TEST(Assert, InAFunctionThatWasNotInlined) {
  const auto record = run_kernel(
      JOINT(printing_kernel("y[threadIdx.x] = check(n - 60 - threadIdx.x);", 1, 32,
                            "__device__ __noinline__ float check(int v) {\n  assert(v > 0);\n  return v;\n}\n")));
  ASSERT_TRUE(record.ok()) << record.error().text();
  ASSERT_TRUE(record->fault);
  EXPECT_EQ(record->fault->line, 5);
  EXPECT_EQ(record->fault->thread.x, 4u);
}

TEST(Trap, IsAFaultWithItsLine) {
  const auto record =
      run_kernel(JOINT(printing_kernel("if (threadIdx.x == 7)\n  __trap();\ny[threadIdx.x] = 1;", 1, 32)));
  ASSERT_TRUE(record.ok()) << record.error().text();
  ASSERT_TRUE(record->fault);
  EXPECT_EQ(record->fault->kind, FaultKind::trap);
  EXPECT_EQ(record->fault->line, 6);
  EXPECT_EQ(record->fault->thread.x, 7u);
}

}  // namespace
}  // namespace roofwalk::test
