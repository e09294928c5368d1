// The clock replays only some blocks of a grid. In some kernels, blocks differ, because the problem requires it or in
// order to deceive the clock. Even then, the modelled time must be that of the whole grid, whichever blocks are
// replayed.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "common/plan/parse_artifact.h"
#include "common/specs/machine.h"
#include "common/vgpu/gpu.h"
#include "tests/support/kernel_runner.h"
#include "tests/support/thirds.h"

namespace roofwalk::test {
namespace {

constexpr std::uint32_t kBlocks = 4096, kThreads = 128;
constexpr std::size_t kWords = std::size_t{1} << 22;

struct Mixture {
  const char* name;
  const char* body;  // uses `in`, `out`, `hash` (32 random bits per block) and `thread` (index in the grid)
  std::uint32_t blocks = kBlocks;
  std::uint64_t trace_bytes = 48u << 20;
  bool is_complete = false;  // true: traces of all blocks are within the limits; false: only an eighth is
};
void PrintTo(const Mixture& mixture, std::ostream* out) { *out << mixture.name; }

// Sixteen loads, independent or dependent.
#define ROOFWALK_SIXTEEN_LOADS                                                               \
  "  float sum = 0;\n"                                                                       \
  "  if (slow) {\n"                                                                          \
  "    int at = thread;\n"                                                                   \
  "    for (int i = 0; i < 16; ++i) { float x = in[at]; sum += x; at += 8192 + (x > 2); }\n" \
  "  } else {\n"                                                                             \
  "    float x[16];\n"                                                                       \
  "    for (int i = 0; i < 16; ++i) x[i] = in[thread + 8192 * i];\n"                         \
  "    for (int i = 0; i < 16; ++i) sum += x[i];\n"                                          \
  "  }\n"

// 16 stretches, of loads and of special functions in turn.
#define ROOFWALK_TURNS_OF_STRETCHES                                                                \
  "  float sum = thread;\n"                                                                        \
  "  if (blockIdx.x / (gridDim.x / 16) & 1) {\n"                                                   \
  "    for (int i = 0; i < 16; ++i) asm volatile(\"ex2.approx.ftz.f32 %0, %0;\" : \"+f\"(sum));\n" \
  "  } else {\n"                                                                                   \
  "    float x[4];\n"                                                                              \
  "    for (int i = 0; i < 4; ++i) x[i] = in[thread + (1 << 19) * i];\n"                           \
  "    for (int i = 0; i < 4; ++i) sum += x[i];\n"                                                 \
  "  }\n"                                                                                          \
  "  out[thread] = sum;\n"

constexpr Mixture kMixtures[] = {
    {"Alike", R"(
  float sum = 0;
  for (int i = 0; i < 16; ++i) sum += in[thread + 131072 * i];
  out[thread] = sum;
)"},
    {"HalfLoadOneByOne", "  bool slow = hash & 1;\n" ROOFWALK_SIXTEEN_LOADS "  out[thread] = sum;\n"},
    {"SomeLoadOneByOne", "  bool slow = hash % 10 != 0;\n" ROOFWALK_SIXTEEN_LOADS "  out[thread] = sum;\n"},
    // Each block takes a path of its own.
    {"HiddenByNoise", "  bool slow = hash & 1;\n" ROOFWALK_SIXTEEN_LOADS R"(
  for (int i = 0; i < (hash >> 8) % 32; ++i) sum = hash >> i & 1 ? sum * 0.5f : __expf(sum);
  out[thread] = sum;
)"},
    // All blocks have the same instructions and bytes, but half read from L2, half from DRAM.
    {"HalfFromL2", R"(
  int base = hash & 1 ? threadIdx.x : thread, step = hash & 1 ? 128 : 8192;
  float sum = 0;
  for (int i = 0; i < 16; ++i) sum += in[base + step * i];
  out[thread] = sum;
)"},
    {"HalfHaveBankConflicts", R"(
  __shared__ float tile[32 * 33 * 4];
  int step = hash & 1 ? 32 : 33;
  float sum = 0;
  for (int i = 0; i < 32; ++i) tile[threadIdx.x % 32 * step + i] = i;
  __syncthreads();
  for (int i = 0; i < 32; ++i) sum += tile[threadIdx.x % 32 * step + (i + threadIdx.x / 32) % 32];
  out[thread] = sum;
)"},
    // All blocks have equally many instructions. In half of the blocks, each multiply-add waits for the one before; in
    // the others, eight independent chains hide such waits. Each block takes so much shared memory that only few warps
    // run at a time. All blocks also load.
    {"HalfWaitForThemselves", R"(
  __shared__ float room[12000];
  float x[8], w[8] = {1, 2, 3, 4, 5, 6, 7, 8}, sum = 0;
  #pragma unroll
  for (int i = 0; i < 8; ++i) x[i] = in[thread + (1 << 19) * i];
  if (hash & 1) {
    #pragma unroll
    for (int s = 0; s < 800; ++s) w[s % 8] = fmaf(w[s % 8], 0.5f, 1.0f);
  } else {
    #pragma unroll
    for (int s = 0; s < 800; ++s) w[0] = fmaf(w[0], 0.5f, 1.0f);
  }
  #pragma unroll
  for (int i = 0; i < 8; ++i) sum += w[i] * x[i];
  if (sum < 0) room[threadIdx.x * 90] = sum;
  __syncthreads();
  out[thread] = sum < 0 ? room[threadIdx.x] : sum;
)"},
    {"AnEighthDoesMost", R"(
  float sum = thread;
  for (int i = 0; i < (hash % 8 == 0 ? 400 : 40); ++i) sum = fmaf(sum, 0.5f, 1.0f);
  out[thread] = sum;
)"},
    {"EightDoMost", R"(
  float sum = thread;
  for (int i = 0; i < (blockIdx.x % 512 == 77 ? 6000 : 20); ++i) sum = fmaf(sum, 0.5f, 1.0f);
  out[thread] = sum;
)"},
    {"EveryAmount", R"(
  float sum = thread;
  for (int i = 0; i < hash % 200; ++i) sum = fmaf(sum, 0.5f, 1.0f);
  out[thread] = sum;
)"},
    // All blocks take the same steps equally often, each chosen by the same `switch`, but half of the blocks take them
    // in another order.
    {"AnotherOrder", R"(
  unsigned long long order = hash & 1 ? 0x5151515151515151ull : 0x5555555511111111ull;
  float a = 0, sum = 0;
  int at = thread;
  float x[4] = {0, 0, 0, 0};
  #pragma unroll 1
  for (int i = 0; i < 16; ++i, order >>= 4) {
    switch (order & 15) {
      case 1: x[i & 1] = in[at]; at += 8192; break;
      case 5: sum += x[0] + x[1] + a; a = sqrtf(sum); break;
    }
  }
  out[thread] = sum;
)"},
    {"OneWarpDoesItAll", R"(
  bool alone = hash & 1;
  float sum = thread;
  int mine = !alone ? 64 : threadIdx.x < 32 ? 256 : 0;
  for (int i = 0; i < mine; ++i) sum = fmaf(sum, 0.5f, 1.0f);
  out[thread] = sum;
)"},
    // In half of the blocks, all warps work in one phase; in the others, each warp works in a phase of its own.
    {"InTurns", R"(
  bool turns = hash & 1;
  float sum = thread;
  for (int phase = 0; phase < 4; ++phase) {
    if (phase == (turns ? threadIdx.x / 32 : 0))
      for (int i = 0; i < 64; ++i) sum = fmaf(sum, 0.5f, 1.0f);
    __syncthreads();
  }
  out[thread] = sum;
)"},
    // All blocks have equally many instructions, lines and sectors. Guards choose between independent loads and loads
    // that each wait for the previous one.
    {"HalfWaitBehindGuards", R"(
  int at_once = hash & 1, link = 0;
  float x[8], y[8], sum = 0;
  #pragma unroll
  for (int i = 0; i < 8; ++i) {
    x[i] = 0;
    asm volatile("{\n.reg .pred p;\nsetp.ne.s32 p, %2, 0;\n@p ld.global.f32 %0, [%1];\n}"
                 : "+f"(x[i]) : "l"(in + thread + 8192 * i), "r"(at_once));
  }
  #pragma unroll
  for (int i = 0; i < 8; ++i) {
    y[i] = 0;
    asm volatile("{\n.reg .pred p;\nsetp.ne.s32 p, %2, 0;\n@p ld.global.f32 %0, [%1];\n}"
                 : "+f"(y[i]) : "l"(in + thread + 8192 * i + link), "r"(1 - at_once));
    link = __float_as_int(y[i]);
  }
  #pragma unroll
  for (int i = 0; i < 8; ++i) sum += x[i] + y[i];
  out[thread] = sum;
)"},
    // The last block has few instructions and bytes but long waits, for which the grid waits, too.
    {"TheLastWaits", R"(
  float sum = 0;
  int at = thread;
  if (blockIdx.x == 4095) {
    if (threadIdx.x < 32) for (int i = 0; i < 1000; ++i) { float x = in[at & 0x3fffff]; sum += x; at += 8192 + (x > 2); }
  } else {
    for (int i = 0; i < 16; ++i) sum += in[thread + 8192 * i];
  }
  out[thread] = sum;
)"},
    {"ATailWaits", R"(
  float sum = 0;
  int at = thread;
  if (blockIdx.x >= 3968) {
    if (threadIdx.x < 32) for (int i = 0; i < 20; ++i) { float x = in[at & 0x3fffff]; sum += x; at += 8192 + (x > 2); }
  } else {
    for (int i = 0; i < 16; ++i) sum += in[thread + 131072 * i];
  }
  out[thread] = sum;
)"},
    // Stretches of blocks that load and stretches of blocks that compute never run at the same time.
    {"StretchesTakeTurns", ROOFWALK_TURNS_OF_STRETCHES},
    {"StretchesTakeTurnsInACompleteTrace", ROOFWALK_TURNS_OF_STRETCHES, kBlocks, 48u << 20, true},
    {"EachIsLongerThanTheLast", R"(
  float sum = 0;
  for (int i = 0; i < blockIdx.x; ++i) sum += in[(thread + 8192 * i) & 0x3fffff];
  out[thread] = sum;
)",
     200, 48u << 20, true},
    // In all blocks, a loop of the same length follows a chain of loads; only that of one block misses L2.
    {"OneBlockMissesL2", R"(
  int step = 1 - min(abs(int(blockIdx.x) - 77), 1), at = step * threadIdx.x / 32 * 131072;
  #pragma unroll 1
  for (int i = 0; i < 500; ++i) at = (at + step * 8 + __float_as_int(__ldcg(in + at))) & 0x3fffff;
  out[thread] = at;
)",
     128},
    // The same barriers in all blocks, but in one block their numbers and counts make each warp wait for the one
    // before.
    {"OneBlockTakesTurns", R"(
  int turns = 1 - min(abs(int(blockIdx.x) - 77), 1), warp = threadIdx.x / 32, at = 0;
  asm volatile("bar.sync %0, %1;" ::"r"(warp), "r"(32 + 32 * min(turns * warp, 1)) : "memory");
  #pragma unroll 1
  for (int i = 0; i < 500; ++i) at = (at + __float_as_int(__ldcg(in + at))) & 0x3fffff;
  asm volatile("bar.sync %0, %1;" ::"r"(warp + turns * min(3 - warp, 1)), "r"(32 + 32 * min(turns * (3 - warp), 1))
               : "memory");
  out[thread] = at;
)",
     128},
    // One loop throughout; its loads hit L2 until the trace's memory is full, and miss it from then on.
    {"MissesL2AfterTheTraceIsFull", R"(
  int at = thread / 32 * 131072;
  #pragma unroll 1
  for (int i = 0; i < 4000; ++i) at = at + min(max(i - 1500, 0), 1) * 8 + __float_as_int(__ldcg(in + (at & 0x3fffff)));
  out[thread] = at;
)",
     8, 1 << 16},
    // The same with conflicts of banks.
    {"HasConflictsAfterTheTraceIsFull", R"(
  __shared__ volatile int zeros[1024];
  if (threadIdx.x >= 32) return;
  for (int i = threadIdx.x; i < 1024; i += 32) zeros[i] = 0;
  int sum = 0;
  #pragma unroll 1
  for (int i = 0; i < 4000; ++i) sum += zeros[(threadIdx.x * (1 + 31 * min(max(i - 1500, 0), 1)) + sum) & 1023];
  out[thread] = sum;
)",
     8, 1 << 16},
};

std::string text_of_mixture(const Mixture& mixture) {
  return std::string(R"(#include <roofwalk.cuh>
__global__ void k(const float* __restrict__ in, float* __restrict__ out) {
  unsigned hash = blockIdx.x * 0x9e3779b9u;
  hash = (hash ^ hash >> 15) * 0x85ebca6bu;
  hash ^= hash >> 13;
  int thread = blockIdx.x * blockDim.x + threadIdx.x;
)") + mixture.body +
         "}\nSOLVE(const float* in, float* out) { k<<<1, 128>>>(in, out); }\n";
}
const bool kMixturesJoined = join(map_to_text(kMixtures, text_of_mixture));

class Sampled : public testing::TestWithParam<Mixture> {
 protected:
  Sampled() : machine_(*load_machine("classroom")), gpu_(machine_) {}

  void SetUp() override {
    const JointKernel& joint = *find_joint(text_of_mixture(GetParam()));
    auto artifact = compile(*joint.text);
    ASSERT_TRUE(artifact.ok()) << artifact.error().text();
    artifact_ = *std::move(artifact);
    auto module = parse_artifact(artifact_);
    ASSERT_TRUE(module.ok()) << module.error().text();
    const auto found = std::find_if(
        artifact_.kernels.begin(), artifact_.kernels.end(),
        [&joint](const KernelResources& each) { return each.name.find(joint.space() + "1k") != std::string::npos; });
    ASSERT_NE(found, artifact_.kernels.end());
    ASSERT_TRUE(gpu_.load(*std::move(module), artifact_.source_name, artifact_.source_path).ok());
    arguments_.resize(16);
    const std::size_t bytes[] = {kWords * 4, std::size_t{kBlocks} * kThreads * 4};
    for (int i = 0; i < 2; ++i) {
      const int id = *gpu_.memory().allocate(i == 0 ? "in" : "out", bytes[i], 4, vgpu::Memory::Region::buffers);
      std::memset(gpu_.memory().buffer(id).data, 0, bytes[i]);
      std::memcpy(&arguments_[static_cast<std::size_t>(i) * 8], &gpu_.memory().buffer(id).address, 8);
    }
    for (const MachineInstruction& in : found->code) {
      code_.push_back({in.ptx_line, in.operation, in.target, in.register_reads});
    }
    call_ = {
        .kernel = found->name, .grid = {GetParam().blocks, 1, 1}, .block = {kThreads, 1, 1}, .arguments = arguments_};
    call_.registers_per_thread = found->registers_per_thread;
    call_.code = code_;
  }

  RunRecord record_of(const vgpu::TraceLimits& traces, std::vector<std::vector<std::uint64_t>> also = {}) {
    vgpu::RunLimits limits{.work = 1'000'000'000'000, .seconds = 600, .traces = traces};
    limits.also_traced = std::move(also);
    gpu_.begin_plan(limits);
    const auto launched = gpu_.launch(call_);
    EXPECT_TRUE(launched.ok() && *launched);
    return gpu_.end_plan();
  }

  // Runs as the harness does: if blocks are missing from the sample, runs once more with them.
  double sampled_ns(std::uint64_t key) {
    vgpu::TraceLimits traces;
    if (!GetParam().is_complete) traces.instructions = instructions_ / 8;
    traces.bytes = GetParam().trace_bytes;
    traces.key = key;
    RunRecord record = record_of(traces);
    if (!record.untraced_blocks.empty()) {
      ++again_;
      record = record_of(traces, record.untraced_blocks);
    }
    return record.elapsed_ns;
  }

  void expect_whole_time(std::uint64_t selections) {
    vgpu::TraceLimits everything;
    everything.complete = true;
    const RunRecord all = record_of(everything);
    const double whole = all.elapsed_ns;
    instructions_ = *all.counters[Counter::warp_instructions];
    double least = 1e9, most = 0;
    for (std::uint64_t key = 0; key < selections; ++key) {
      const double sampled = sampled_ns(key * 0x9e3779b97f4a7c15u) / whole;
      least = std::min(least, sampled);
      most = std::max(most, sampled);
    }
    EXPECT_GE(least, 0.95);
    EXPECT_LE(most, 1.15);
    RecordProperty("least", std::to_string(least));
    RecordProperty("most", std::to_string(most));
    RecordProperty("ran_again", again_);
  }

  Machine machine_;
  vgpu::Gpu gpu_;
  Artifact artifact_;
  std::vector<std::uint8_t> arguments_;
  std::vector<vgpu::MachineOp> code_;
  vgpu::KernelCall call_;
  int again_ = 0;
  std::uint64_t instructions_ = 0;  // instructions of the grid
};

TEST_P(Sampled, HasTheTimeOfTheWholeGrid) { expect_whole_time(2); }

// Choosing the best of many versions of a kernel, in the hope of a lucky sample, must gain almost nothing.
class SampledOften : public Sampled {};
TEST_P(SampledOften, HasItForTheBestOfAThousandSelections) { expect_whole_time(1000); }

// These samples take longer, or are alike, so fewer are tried.
class SampledAtTimes : public Sampled {};
TEST_P(SampledAtTimes, HasItForTheBestOfHundredSelections) { expect_whole_time(100); }

constexpr auto kName = [](const auto& each) { return std::string(each.param.name); };
INSTANTIATE_TEST_SUITE_P(Mixtures, Sampled, testing::ValuesIn(every_third(kMixtures)), kName);
INSTANTIATE_TEST_SUITE_P(LongMixtures, Sampled, testing::ValuesIn(all_but_every_third(kMixtures)), kName);
std::vector<Mixture> mixtures_called(std::string_view part) {
  std::vector<Mixture> some;
  for (const Mixture& mixture : kMixtures) {
    if (std::string_view(mixture.name).find(part) != std::string_view::npos) some.push_back(mixture);
  }
  return some;
}
// Only these mixtures are tried often: the others have samples that are all alike.
INSTANTIATE_TEST_SUITE_P(Mixtures, SampledOften, testing::ValuesIn(mixtures_called("SomeLoadOneByOne")), kName);
INSTANTIATE_TEST_SUITE_P(Mixtures, SampledAtTimes, testing::ValuesIn(mixtures_called("AnotherOrder")), kName);
INSTANTIATE_TEST_SUITE_P(MoreMixtures, SampledAtTimes, testing::ValuesIn(mixtures_called("HalfLoadOneByOne")), kName);

}  // namespace
}  // namespace roofwalk::test
