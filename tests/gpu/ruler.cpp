#include "tests/gpu/ruler.h"

#include <fmt/format.h>

#include <cmath>

#include "common/base/json.h"

namespace roofwalk::test {
namespace {

std::optional<double> counted(const RunRecord& record, Counter counter) {
  const auto value = record.counters[counter];
  return value ? std::optional<double>(static_cast<double>(*value)) : std::nullopt;
}

std::optional<double> difference(const RunRecord& more, const RunRecord& less, Counter counter) {
  const auto a = counted(more, counter), b = counted(less, counter);
  return a && b ? std::optional<double>(*a - *b) : std::nullopt;
}

// Runs small kernels and compares their counts with numbers derived by hand. Compiles each kernel file only once.
class Ruler {
 public:
  explicit Ruler(Runner& runner) : runner_(runner) {}

  std::vector<RulerRow> rows;

  Status strides() {
    constexpr int kThreads = 64, kLoads = 16, kBlocks = 64;
    for (const int stride : {1, 2, 4, 8, 16, 32}) {
      Buffer a{"a", std::vector<float>(static_cast<std::size_t>(kBlocks * kThreads * kLoads * stride), 1.0f)};
      Buffer c{"c", {0}};
      ROOFWALK_TRY(const RunRecord record, run("tests/laws/kernels/strides.cu", {&a, &c, stride, kBlocks, kThreads}));
      const double requests = 1.0 * kBlocks * kThreads / 32 * kLoads;
      const double sectors = requests * std::min(32, 4 * stride);
      rows.push_back({fmt::format("stride {}: L1 sectors read", stride), "sectors",
                      counted(record, Counter::l1_read_sectors), sectors});
      // A lone sector brings its neighbour along where DRAM delivers 64 bytes at least.
      const double of_dram = stride >= 16 ? runner_.device().machine().dram_access_bytes : 32;
      rows.push_back({fmt::format("stride {}: DRAM bytes read", stride), "B", counted(record, Counter::dram_read_bytes),
                      sectors * of_dram, 0.05, kFewBytes});
    }
    return kOk;
  }

  Status bank_conflicts() {
    constexpr int kTurns = 16, kReads = 32, kThreads = 256, kBlocks = 4;
    Buffer c{"c", std::vector<float>(kBlocks * kThreads)};
    for (const int ways : {1, 2, 4, 8, 16, 32}) {
      const auto of = [&](int turns) {
        return run("tests/laws/kernels/shared.cu", {&c, ways, kBlocks, kThreads, turns});
      };
      ROOFWALK_TRY(const RunRecord few, of(2));
      ROOFWALK_TRY(const RunRecord many, of(2 + kTurns));
      rows.push_back({fmt::format("{}-way bank conflicts: wavefronts", ways), "wavefronts",
                      difference(many, few, Counter::shared_wavefronts),
                      1.0 * kTurns * kReads * kThreads / 32 * kBlocks * ways});
    }
    return kOk;
  }

  Status flops() {
    constexpr int kBlocks = 8, kThreads = 128, kFew = 2, kMany = 10;
    struct Kind {
      const char* name;
      int kernel;
      Counter counter;
      double of_a_thread;  // FLOPs of a thread per turn: chains x steps x FLOPs of a step, as in arithmetic.cu
    };
    for (const Kind& kind :
         {Kind{"FP32", 0, Counter::flops_f32, 8 * 64 * 2}, Kind{"half", 1, Counter::flops_f16, 8 * 32 * 4},
          Kind{"mma", 2, Counter::flops_tensor, 8 * 16 * 4096 / 32.0}}) {
      Buffer in{"in", std::vector<float>(16, 1.0f)}, none{"none", {0}},
          out{"out", std::vector<float>(kBlocks * kThreads)};
      const auto of = [&](int turns) {
        return run("common/roofs/arithmetic.cu", {&in, &none, &out, kind.kernel, 0, 0, kBlocks, kThreads, turns});
      };
      ROOFWALK_TRY(const RunRecord few, of(kFew));
      ROOFWALK_TRY(const RunRecord many, of(kMany));
      rows.push_back({fmt::format("FLOPs of {} chains", kind.name), "FLOP", difference(many, few, kind.counter),
                      kind.of_a_thread * kBlocks * kThreads * (kMany - kFew)});
    }
    return kOk;
  }

  struct Stream {
    const char* name;
    int kernel, reads, writes;
  };
  static constexpr Stream kCopy{"copy", 2, 1, 1};

  // Each array is at least eight times as large as L2, so that the data left in L2 at the end is a small part of it.
  Result<RunRecord> stream(const Stream& s) {
    const std::vector<float> ones(static_cast<std::size_t>(stream_vectors()) * 4, 1.0f);
    Buffer a{"a", ones}, b{"b", ones}, c{"c", ones};
    return run("common/roofs/memory.cu",
               {&a, &b, &c, s.kernel, 0, 1, static_cast<int>(stream_vectors() / kGrain), 0, 0});
  }

  Status streams() {
    for (const Stream& s : {Stream{"read", 0, 1, 0}, {"write", 1, 0, 1}, kCopy, {"triad", 3, 2, 1}}) {
      ROOFWALK_TRY(const RunRecord record, stream(s));
      const double bytes = 16.0 * static_cast<double>(stream_vectors());
      rows.push_back({fmt::format("stream {}: DRAM bytes read", s.name), "B", counted(record, Counter::dram_read_bytes),
                      bytes * s.reads, 0.02, kFewBytes});
      // When counting ends, L2 may still hold written data: at most an eighth of the stream. When it begins, L2 may
      // still hold dirty lines of an earlier pass, in spite of the sweep.
      rows.push_back({fmt::format("stream {}: DRAM bytes written", s.name), "B",
                      counted(record, Counter::dram_write_bytes), bytes * s.writes, 0.15,
                      static_cast<double>(runner_.device().machine().l2_bytes) / 16});
      rows.push_back({fmt::format("stream {}: time", s.name), "ns", record.elapsed_ns, std::nullopt});
    }
    return kOk;
  }

  // Stores of `width` floats every `pitch` floats, over arrays many times as large as L2: what partly written sectors
  // and lone sectors cost in DRAM. Nobody publishes that, so there is nothing to compare with.
  Status scattered_stores() {
    constexpr int kFloats = 1 << 27;
    for (const auto& [width, pitch] : {std::pair{1, 8}, {4, 8}, {8, 8}, {8, 16}, {8, 32}, {16, 32}}) {
      const std::int64_t least = 8 * runner_.device().machine().l2_bytes / 4;
      const int floats = static_cast<int>(std::min<std::int64_t>(kFloats, std::max<std::int64_t>(1 << 16, least)));
      const int threads = floats / pitch * width;
      Buffer a{"a", std::vector<float>(static_cast<std::size_t>(floats), 1.0f)};
      ROOFWALK_TRY(const RunRecord record, run("tests/gpu/kernels/scattered_stores.cu", {&a, width, pitch, threads}));
      for (const auto& [what, counter] :
           {std::pair{"read", Counter::dram_read_bytes}, {"written", Counter::dram_write_bytes}}) {
        const auto bytes = counted(record, counter);
        rows.push_back(
            {fmt::format("stores of {} B every {} B: DRAM bytes {} per byte stored", 4 * width, 4 * pitch, what), "B/B",
             bytes ? std::optional<double>(*bytes / (4.0 * threads)) : std::nullopt, std::nullopt});
      }
    }
    return kOk;
  }

  // Runs an empty kernel. Any bytes counted here were left behind by the flush of L2 that precedes each run.
  Status nothing() {
    ROOFWALK_TRY(const RunRecord record, runner_.run("#include <roofwalk.cuh>\n__global__ void nothing() {}\n"
                                                     "SOLVE() { nothing<<<1, 32>>>(); }\n",
                                                     {}, {}));
    if (record.fault) return Error{.message = record.fault->message};
    rows.push_back(
        {"an empty kernel: DRAM bytes written", "B", counted(record, Counter::dram_write_bytes), 0.0, 0, kFewBytes});
    rows.push_back({"an empty kernel: time", "ns", record.elapsed_ns, std::nullopt});
    return kOk;
  }

 private:
  static constexpr std::int64_t kGrain = 1024;   // vectors per block, as in memory.cu
  static constexpr double kFewBytes = 64 << 10;  // of the driver and the profiler, in any range on a GPU

  std::int64_t stream_vectors() const {
    constexpr std::int64_t kFewest = 1 << 20;
    return std::max(kFewest, 8 * runner_.device().machine().l2_bytes / 16) / kGrain * kGrain;
  }

  Result<RunRecord> run(const std::string& file, const std::vector<Runner::Argument>& arguments) {
    auto known = artifacts_.find(file);
    if (known == artifacts_.end()) {
      ROOFWALK_TRY(Artifact artifact, compile(text_of(file)));
      known = artifacts_.emplace(file, std::move(artifact)).first;
    }
    ROOFWALK_TRY(RunRecord record, runner_.run(known->second, arguments, {}));
    if (record.fault) return Error{.message = fmt::format("{}: {}", file, record.fault->message)};
    return record;
  }

  Runner& runner_;
  std::map<std::string, Artifact> artifacts_;
};

Json or_null(const std::optional<double>& value) { return value ? Json(*value) : Json(nullptr); }

}  // namespace

bool RulerRow::is_right() const {
  return !value || !by_hand || std::abs(*value - *by_hand) <= tolerance * *by_hand + slack;
}

Json to_json(const std::vector<RulerRow>& rows) {
  Json json = Json::array();
  for (const RulerRow& row : rows) {
    json.push_back({{"name", row.name},
                    {"unit", row.unit},
                    {"value", or_null(row.value)},
                    {"by_hand", or_null(row.by_hand)},
                    {"tolerance", row.tolerance},
                    {"slack", row.slack}});
  }
  return json;
}

std::vector<RulerRow> ruler_rows_of(const Json& json) {
  std::vector<RulerRow> rows;
  for (const Json& row : json) {
    rows.push_back({row.value("name", ""), row.value("unit", ""), row.number_of("value"), row.number_of("by_hand"),
                    row.value("tolerance", 0.0), row.value("slack", 0.0)});
  }
  return rows;
}

Result<RunRecord> run_copy_stream(Runner& runner) { return Ruler(runner).stream(Ruler::kCopy); }

Result<std::vector<RulerRow>> measure_ruler(Runner& runner) {
  Ruler ruler(runner);
  ROOFWALK_TRY_STATUS(ruler.nothing());
  ROOFWALK_TRY_STATUS(ruler.strides());
  ROOFWALK_TRY_STATUS(ruler.bank_conflicts());
  ROOFWALK_TRY_STATUS(ruler.flops());
  ROOFWALK_TRY_STATUS(ruler.streams());
  ROOFWALK_TRY_STATUS(ruler.scattered_stores());
  return std::move(ruler.rows);
}

}  // namespace roofwalk::test
