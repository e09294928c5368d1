// Constant memory: passes, misses and bytes, exactly as counted by hand, and which accesses reach it.
//
// The first cache has 2 KiB in lines of 64 bytes; the second one fetches 256 bytes (8 sectors) from L2.
#include "common/base/json.h"
#include "tests/support/kernel_runner.h"

namespace roofwalk::test {
namespace {

using testing::HasSubstr;

// Returns a kernel in which lane l, if l < `lanes`, reads the element that `element` names, with i = l * stride / per.
std::string gather(const std::string& declaration, const std::string& element) {
  return "#include <roofwalk.cuh>\n" + declaration +
         "\n__global__ void gather(float* c, int stride, int per, int lanes) {\n"
         "  const int i = threadIdx.x % 32 * stride / per;\n"
         "  if (threadIdx.x % 32 < lanes) c[blockIdx.x * blockDim.x + threadIdx.x] = " +
         element +
         ";\n}\n"
         "SOLVE(float* c, int blocks, int threads, int stride, int per, int lanes) {\n"
         "  gather<<<blocks, threads>>>(c, stride, per, lanes);\n}\n";
}

const std::string kFloats = gather("__constant__ float table[4096];", "table[i]");

struct Call {
  int stride = 1, per = 1, lanes = 32, blocks = 1, threads = 32;
};

class Constants : public testing::Test {
 protected:
  RunRecord run(const std::string& text, const Call& call, const RunOptions& options = {}) {
    Buffer c{"c", std::vector<float>(static_cast<std::size_t>(call.blocks) * call.threads)};
    const auto record = Runner().run(text, {&c, call.blocks, call.threads, call.stride, call.per, call.lanes}, options);
    EXPECT_TRUE(record.ok()) << record.error().text();
    if (!record) return {};
    EXPECT_FALSE(record->fault) << record->fault->message;
    return *record;
  }
  static std::uint64_t count(const RunRecord& record, Counter counter) {
    return record.counters[counter].value_or(999'999);
  }

  struct Wanted {
    std::uint64_t requests, passes, misses, bytes, l2_sectors;
  };
  void expect(const std::string& text, const Call& call, const Wanted& wanted) {
    const RunRecord record = run(text, call);
    const std::string what = "stride " + std::to_string(call.stride) + " / " + std::to_string(call.per) + ", " +
                             std::to_string(call.lanes) + " lanes: " + text;
    EXPECT_EQ(count(record, Counter::constant_requests), wanted.requests) << what;
    EXPECT_EQ(count(record, Counter::constant_passes), wanted.passes) << what;
    EXPECT_EQ(count(record, Counter::constant_misses), wanted.misses) << what;
    EXPECT_EQ(count(record, Counter::constant_bytes), wanted.bytes) << what;
    EXPECT_EQ(count(record, Counter::l2_read_sectors), wanted.l2_sectors) << what;
    // With few lanes, the store leaves a sector of c partly written, so L2 fills it.
    const std::uint64_t filled = call.lanes % 8 != 0 ? 1 : 0;
    EXPECT_EQ(count(record, Counter::dram_read_bytes), 32 * (wanted.l2_sectors + filled)) << what;
    EXPECT_EQ(count(record, Counter::l1_read_sectors), 0u) << what;
    EXPECT_EQ(count(record, Counter::global_load_requests), 0u) << what;
  }
};

TEST_F(Constants, APassForEachWordThatLanesDifferIn) {
  expect(kFloats, {.stride = 0}, {1, 1, 1, 4, 8});
  expect(kFloats, {.per = 16}, {1, 2, 1, 8, 8});
  expect(kFloats, {.per = 4}, {1, 8, 1, 32, 8});
  expect(kFloats, {}, {1, 32, 2, 128, 8});
  expect(kFloats, {.lanes = 10}, {1, 10, 1, 40, 8});
  expect(kFloats, {.lanes = 1}, {1, 1, 1, 4, 8});
}

TEST_F(Constants, LinesOfTheTwoCaches) {
  expect(kFloats, {.stride = 2}, {1, 32, 4, 128, 8});
  expect(kFloats, {.stride = 16}, {1, 32, 32, 128, 64});   // 64 bytes apart
  expect(kFloats, {.stride = 64}, {1, 32, 32, 128, 256});  // 256 bytes apart
}

TEST_F(Constants, WidthsOfWords) {
  expect(gather("__constant__ double table[64];", "(float)table[i]"), {}, {1, 32, 4, 256, 8});
  // A wide load is split into loads of at most 8 bytes: the lower halves, then the upper ones.
  const std::string quads =
      gather("__constant__ float4 table[64];", "table[i].x + table[i].y + table[i].z + table[i].w");
  expect(quads, {}, {2, 64, 8, 512, 16});
  expect(quads, {.stride = 0}, {2, 2, 1, 16, 8});
  // Two shorts share a word.
  expect(gather("__constant__ short table[64];", "table[i]"), {}, {1, 16, 1, 64, 8});
}

TEST_F(Constants, AVariableThatIsNamedIsARequestOfOneWord) {
  expect(gather("__constant__ float table[4096];", "table[5]"), {}, {1, 1, 1, 4, 8});
}

// Small variables are adjacent, as in a hardware bank, so these share a line.
TEST_F(Constants, SmallVariablesShareLines) {
  const std::string two = gather("__constant__ float x[3]; __constant__ double y[2]; __constant__ float z[3];",
                                 "x[stride] + (float)y[stride] + z[stride]");
  expect(two, {.stride = 1}, {3, 3, 1, 16, 8});
}

TEST_F(Constants, KernelParametersAreFree) {
  const RunRecord record = run(gather("", "(float)(stride + per)"), {});
  EXPECT_EQ(count(record, Counter::constant_requests), 0u);
  EXPECT_EQ(count(record, Counter::l2_read_sectors), 0u);
}

// Each SM has its own caches and reads L2 itself, but DRAM is read once.
TEST_F(Constants, OfEachSm) {
  const RunRecord record = run(kFloats, {.stride = 0, .blocks = 16, .threads = 64});
  EXPECT_EQ(count(record, Counter::constant_requests), 32u);
  EXPECT_EQ(count(record, Counter::constant_passes), 32u);
  EXPECT_EQ(count(record, Counter::constant_misses), 8u);
  EXPECT_EQ(count(record, Counter::l2_read_sectors), 64u);
  EXPECT_EQ(count(record, Counter::l2_read_hit_sectors), 56u);
  EXPECT_EQ(count(record, Counter::dram_read_bytes), 256u);
}

// Runs one warp that reads `lines` words, 64 bytes apart, twice.
RunRecord walk(int lines, int first = 0) {
  const std::string& kText = JOINT(R"(#include <roofwalk.cuh>
__constant__ float table[16384];
__global__ void walk(float* c, int lines, int first) {
  float sum = 0;
  for (int i = 0; i < 2 * lines; ++i) sum += table[16 * (first + i % lines)];
  c[threadIdx.x] = sum;
}
SOLVE(float* c, int lines, int first) { walk<<<1, 32>>>(c, lines, first); }
)");
  Buffer c{"c", std::vector<float>(32)};
  const auto record = Runner().run(kText, {&c, lines, first});
  EXPECT_TRUE(record.ok()) << record.error().text();
  return record ? *record : RunRecord{};
}

TEST_F(Constants, WhatTheCachesHold) {
  struct Case {
    int lines, first;
    std::uint64_t misses, l2_sectors;
  };
  for (const Case& c : {Case{32, 0, 32, 64}, Case{32, 5, 32, 72}, Case{64, 0, 128, 128}, Case{1024, 0, 2048, 2048}}) {
    const RunRecord record = walk(c.lines, c.first);
    EXPECT_EQ(count(record, Counter::constant_passes), 2u * static_cast<unsigned>(c.lines));
    EXPECT_EQ(count(record, Counter::constant_misses), c.misses) << c.lines;
    EXPECT_EQ(count(record, Counter::l2_read_sectors), c.l2_sectors) << c.lines;
  }
}

TEST_F(Constants, CountedByLine) {
  const RunRecord record = run(kFloats, {});
  std::uint64_t passes = 0;
  for (const LineCounters& line : record.kernels.at(0).lines) {
    passes += line.counters[Counter::constant_passes].value_or(0);
    EXPECT_EQ(line.counters[Counter::constant_passes].value_or(0), line.line == 5 ? 32u : 0u) << line.line;
  }
  EXPECT_EQ(passes, 32u);
}

TEST_F(Constants, CountedTheSameOnAnyThreadAndWithoutLockstep) {
  RunOptions alone, apart;
  alone.threads = 1;
  apart.lockstep = false;
  const Call call{.stride = 3, .blocks = 24, .threads = 96};
  const RunRecord usual = run(kFloats, call);
  EXPECT_EQ(usual.counters, run(kFloats, call, alone).counters);
  EXPECT_EQ(usual.counters, run(kFloats, call, apart).counters);
}

// Tests which accesses may use a constant's address.
class ReachingConstants : public testing::Test {
 protected:
  static Fault fault(const std::string& text) {
    Buffer c{"c", std::vector<float>(32)};
    const auto record = Runner().run(text, {&c, 0});
    EXPECT_TRUE(record.ok()) << record.error().text();
    if (record && record->fault) return *record->fault;
    Fault none;
    none.message = "none";
    return none;
  }
};

constexpr const char* kNumber = "0x7d0000000000";

TEST_F(ReachingConstants, ByAPointerThatTheFileMakesOfAName) {
  Buffer c{"c", std::vector<float>(32)};
  const auto record = Runner().run(R"(#include <roofwalk.cuh>
__constant__ float table[4] = {1, 2, 3, 4};
__device__ __noinline__ float look_up(const float* p, int i) { return p[i]; }
__global__ void read(float* c, int n) { c[threadIdx.x] = look_up(n > 3 ? table : c, threadIdx.x % 4); }
SOLVE(float* c, int n) { read<<<1, 32>>>(c, n); }
)",
                                   {&c, 4});
  ASSERT_TRUE(record.ok()) << record.error().text();
  ASSERT_FALSE(record->fault) << record->fault->message;
  EXPECT_EQ(c.values[6], 3);
  EXPECT_EQ(record->counters[Counter::constant_requests], 0u);
  EXPECT_EQ(record->counters[Counter::global_load_requests], 1u);  // through L1
}

// A kernel of one line, which is line 3. Its SOLVE's parameters keep it apart from files that make pointers of names.
std::string of_table(const std::string& line) {
  return "#include <roofwalk.cuh>\n__constant__ float table[64] = {1};\n__global__ void k(float* c) { " + line +
         " }\nSOLVE(float* c, int n) { k<<<1, 32>>>(c); }\n";
}

TEST_F(ReachingConstants, NotByANumber) {
  const Fault read =
      fault(JOINT(of_table(std::string("c[threadIdx.x] = *(volatile float*)") + kNumber + " + table[threadIdx.x];")));
  EXPECT_EQ(read.kind, FaultKind::out_of_bounds);
  EXPECT_EQ(read.line, 3);
  EXPECT_THAT(read.message, HasSubstr("reads constant memory by a number"));
  const Fault write = fault(JOINT(of_table(std::string("*(volatile float*)") + kNumber + " = table[threadIdx.x];")));
  EXPECT_EQ(write.line, 3);
  EXPECT_THAT(write.message, HasSubstr("writes constant memory"));
  const Fault beyond = fault(JOINT(of_table("c[threadIdx.x] = table[64 + threadIdx.x];")));
  EXPECT_EQ(beyond.line, 3);
  EXPECT_THAT(beyond.message, HasSubstr("reads table[64], but table holds 64 elements"));
  const Fault elsewhere =
      fault(JOINT(of_table("float x; asm(\"ld.const.f32 %0, [%1];\" : \"=f\"(x) : \"l\"(c)); c[threadIdx.x] = x;")));
  EXPECT_EQ(elsewhere.line, 3);
  EXPECT_THAT(elsewhere.message, HasSubstr("where there is no __constant__ variable"));
}

// A SOLVE with this step, which is line 5.
std::string stepping(const std::string& step) {
  return "#include <roofwalk.cuh>\n__constant__ float table[64];\n"
         "__global__ void k(float* c) { c[threadIdx.x] = table[threadIdx.x]; }\nSOLVE(float* c) {\n" +
         step + "\nk<<<1, 32>>>(c); }\n";
}

TEST_F(ReachingConstants, NotByACopyOrAMemset) {
  const auto of = [](const std::string& text) {
    Buffer c{"c", std::vector<float>(32)};
    const auto record = Runner().run(text, {&c});
    EXPECT_FALSE(record.ok()) << text;
    if (record.ok()) return std::string();
    EXPECT_EQ(record.error().line, 5) << text;
    return record.error().message;
  };
  EXPECT_EQ(
      of(JOINT(stepping(std::string("cudaMemcpyAsync((char*)") + kNumber + ", c, 64, cudaMemcpyDeviceToDevice);"))),
      "solve copies to constant memory");
  EXPECT_EQ(of(JOINT(stepping(std::string("cudaMemcpyAsync(c, (char*)") + kNumber +
                              " + 64, 64, cudaMemcpyDeviceToDevice);"))),
            "solve copies from constant memory");
  EXPECT_EQ(of(JOINT(stepping(std::string("cudaMemsetAsync((char*)") + kNumber + ", 0, 8);"))),
            "solve sets constant memory");
  EXPECT_EQ(of(JOINT(stepping("cudaMemcpyAsync(table, c, 64, cudaMemcpyDeviceToDevice);"))),
            "solve copies to `table`, a __constant__ variable");
  EXPECT_EQ(of(JOINT(stepping("cudaMemcpyAsync(c, table + 63, 4, cudaMemcpyDeviceToDevice);"))),
            "solve copies from `table`, a __constant__ variable");
  EXPECT_EQ(of(JOINT(stepping("cudaMemsetAsync(table + 1, 0, 4);"))), "solve sets `table`, a __constant__ variable");
}

}  // namespace
}  // namespace roofwalk::test
