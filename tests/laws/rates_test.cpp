// The rates of long uniform runs match the machine file.
#include "tests/laws/law.h"

namespace roofwalk::test {
namespace {

class Rates : public Law {
 protected:
  // Saturates a pipe with `lanes` lanes: 8 chains per thread, as many warps as a block may have.
  void expect_pipe(Chain chain, double lanes) {
    const double cycles = cycles_per_turn(chain, 8, machine_.sms, most_threads());
    const double warps = most_threads() / 32;
    const double lanes_reached = 256.0 * warps * 32 / cycles;
    expect_within(lanes_reached, lanes, kRateTolerance, "lanes a clock");
  }

  // Returns a larger tolerance if the room for sectors in flight limits the rate, because every delay of a request then
  // lowers it.
  static double tolerance(bool bound_by_room) { return bound_by_room ? 3 * kRateTolerance : kRateTolerance; }

  // Returns a number of float4 for read_l2: more than L1 holds, so that no block hits in L1, and few enough for L2.
  int beyond_l1(int threads) const {
    const int chunk = 4 * threads;
    const int vectors = (machine_.l1_bytes * 3 / 2 / 16 + chunk - 1) / chunk * chunk;
    EXPECT_LE(vectors * 16, machine_.l2_bytes / 2);
    return vectors;
  }

  // Makes every SM read the same vectors: once in the first launch, `passes` times in the second.
  RunRecord read_l2(Buffer& a, Buffer& c, int vectors, int threads, int passes) {
    return run_roof("memory", a, a, c,
                    {.kernel = 4, .vectors = vectors, .blocks = machine_.sms, .threads = threads, .turns = passes});
  }
};

struct Stream {
  const char* name;
  int which, reads, writes;  // number of the kernel in memory.cu; arrays read and written
};

TEST_P(Rates, DramStreams) {
  // Long enough that filling and draining the pipeline takes only 2 % of the time.
  constexpr int kVectorsPerBlock = 1024;
  const double in_flight = dram_bytes_per_clock() * machine_.dram_latency_cycles;
  for (const Stream& s : {Stream{"read", 0, 1, 0}, {"write", 1, 0, 1}, {"copy", 2, 1, 1}, {"triad", 3, 2, 1}}) {
    const int arrays = s.reads + s.writes;
    const int blocks = static_cast<int>(50 * in_flight / arrays / (kVectorsPerBlock * 16)) + 1;
    const int n = blocks * kVectorsPerBlock;
    const std::vector<float> values(static_cast<std::size_t>(n) * 4, 1.0f);
    Buffer a{"a", values}, b{"b", values}, c{"c", values};
    const RunRecord record = run_roof("memory", a, b, c, {.kernel = s.which, .blocks = blocks});
    const double bytes = 16.0 * n * arrays;
    EXPECT_EQ(count(record, Counter::dram_read_bytes), 16ull * static_cast<unsigned>(n * s.reads)) << s.name;
    EXPECT_EQ(count(record, Counter::dram_write_bytes), 16ull * static_cast<unsigned>(n * s.writes)) << s.name;
    const double rate = dram_stream_bytes_per_clock(static_cast<double>(s.reads) / arrays);
    const bool bound_by_room = rate < 0.99 * dram_mixture_bytes_per_clock(static_cast<double>(s.reads) / arrays);
    expect_within(bytes / cycles(record), rate, tolerance(bound_by_room), std::string(s.name) + ", bytes a clock");
  }
}

TEST_P(Rates, L2ResidentData) {
  const int threads = this->threads(4), vectors = beyond_l1(threads);
  Buffer a{"a", std::vector<float>(static_cast<std::size_t>(vectors) * 4, 1.0f)};
  Buffer c{"c", std::vector<float>(static_cast<std::size_t>(machine_.sms) * threads)};
  const auto of = [&](int passes) { return read_l2(a, c, vectors, threads, passes); };
  const RunRecord few = of(2), many = of(6);
  const double bytes = 4.0 * 16 * vectors * machine_.sms;
  // A hash chooses the cache set, so a few lines stay in L1 or are evicted from L2.
  const double from_l2 =
      static_cast<double>(count(many, Counter::l2_read_sectors) - count(few, Counter::l2_read_sectors)) * 32;
  expect_within(from_l2, bytes, 0.1, "bytes from L2");
  EXPECT_LE(count(many, Counter::dram_read_bytes), 1.05 * 16 * vectors);
  // The first launch of each run only loads the data.
  const double spent = cycles(many.kernels.at(1)) - cycles(few.kernels.at(1));
  const double rate = l2_read_bytes_per_clock();
  const bool bound_by_room = rate < std::min(machine_.l2_bytes_per_clock, ports_bytes_per_clock());
  expect_within(from_l2 / spent, rate, tolerance(bound_by_room), "bytes a clock");
}

TEST_P(Rates, TheSecondLaunchFindsItsDataInL2) {
  const int threads = this->threads(4), vectors = beyond_l1(threads);
  Buffer a{"a", std::vector<float>(static_cast<std::size_t>(vectors) * 4, 1.0f)};
  Buffer c{"c", std::vector<float>(static_cast<std::size_t>(machine_.sms) * threads)};
  const RunRecord record = read_l2(a, c, vectors, threads, 1);
  const auto dram = [&](int i) { return *record.kernels.at(i).counters[Counter::dram_read_bytes]; };
  EXPECT_GE(dram(0), 16ull * static_cast<unsigned>(vectors));
  EXPECT_LE(dram(1), 16ull * static_cast<unsigned>(vectors) / 50);
  EXPECT_LT(cycles(record.kernels.at(1)), cycles(record.kernels.at(0)));
}

TEST_P(Rates, L1ResidentData) {
  constexpr int kVectors = 1024, kPerTurn = 8;
  const int threads = most_threads(), blocks = few_sms();
  ASSERT_LE(kVectors * 16, machine_.l1_bytes / 2);
  Buffer a{"a", std::vector<float>(kVectors * 4, 1.0f)};
  Buffer c{"c", std::vector<float>(static_cast<std::size_t>(blocks) * threads)};
  const auto of = [&](int turns) {
    return run_roof("memory", a, a, c, {.kernel = 5, .blocks = blocks, .threads = threads, .turns = turns});
  };
  const RunRecord few = of(20), many = of(36);  // after 20 turns, all data is in L1
  EXPECT_EQ(count(many, Counter::l2_read_sectors), count(few, Counter::l2_read_sectors));
  // A warp's request is 512 bytes, in four lines.
  const double interval =
      std::max({512 / machine_.l1_bytes_per_clock, 4 / machine_.l1_lines_per_clock, memory_interval()});
  const double bytes = 16.0 * 16 * kPerTurn * threads;
  expect_within(bytes / (cycles(many) - cycles(few)), 512 / interval, kRateTolerance, "bytes a clock and SM");
}

TEST_P(Rates, SharedMemory) {
  const int threads = most_threads(), blocks = few_sms();
  Buffer c{"c", std::vector<float>(static_cast<std::size_t>(blocks) * threads)};
  const auto of = [&](int turns) { return run("shared", {&c, 0, blocks, threads, turns}); };
  const RunRecord few = of(4), many = of(20);
  const double interval = std::max(512 / machine_.shared_bytes_per_clock, shared_interval());
  const double bytes = 16.0 * 8 * 16 * threads;
  EXPECT_EQ(count(many, Counter::shared_bank_conflicts), 0u);
  expect_within(bytes / (cycles(many) - cycles(few)), 512 / interval, kRateTolerance, "bytes a clock and SM");
}

TEST_P(Rates, Fma) { expect_pipe(Chain::fma, machine_.fp32_lanes_per_sm); }
TEST_P(Rates, FmaOfThreeRegistersWaitsForThem) {
  const double each = cycles_per_turn(Chain::fma_of_three, 1, machine_.sms, most_threads()) / 256;
  const double warps = most_threads() / 32.0 / machine_.schedulers_per_sm;
  const double busy = std::max(interval(machine_.fp32_lanes_per_sm), 3 / machine_.register_reads_per_clock);
  expect_within(each / warps, std::max(busy, (machine_.alu_latency_cycles) / warps), kRateTolerance,
                "cycles an FMA and scheduler");
}
TEST_P(Rates, FmaOfDoubles) { expect_pipe(Chain::fma_double, machine_.fp64_lanes_per_sm); }
TEST_P(Rates, FunnelShift) { expect_pipe(Chain::funnel_shift, machine_.int_lanes_per_sm); }
TEST_P(Rates, IntegerMultiply) { expect_pipe(Chain::multiply_add, machine_.multiply_lanes_per_sm); }
TEST_P(Rates, Exp2) { expect_pipe(Chain::exp2, machine_.special_lanes_per_sm); }
TEST_P(Rates, Rsqrt) { expect_pipe(Chain::rsqrt, machine_.special_lanes_per_sm); }

// For ordinary operands, ptxas 13.0 compiles div.rn.f32 to BSSY, MUFU.RCP, FCHK, five FFMA, BRA and BSYNC: one
// instruction for the special function pipe, five for the FP32 pipe, ten to issue (read with nvdisasm, for sm_80 and
// sm_90).
TEST_P(Rates, Division) {
  const double cycles = cycles_per_turn(Chain::divide, 8, few_sms(), most_threads());
  const double warps = most_threads() / 32.0 / machine_.schedulers_per_sm;
  const double each = cycles / (256 * warps);  // cycles per division on one scheduler
  const double fma = interval(machine_.fp32_lanes_per_sm), special = interval(machine_.special_lanes_per_sm);
  EXPECT_GE(each, std::max(special, 5 * fma) * (1 - kRateTolerance));
  EXPECT_LE(each, std::max({2 * special, 10.0, 7 * fma}) * (1 + kRateTolerance)) << "FCHK may use the special pipe too";
  EXPECT_GE(each, 4 * fma) << "a division costs several multiplications";
}

TEST_P(Rates, HalfFma) {
  const int threads = most_threads();
  Buffer in{"in", {0.5f, 1, 1, 2, 3, 4, 5, 6, 7, 8}};
  Buffer out{"out", std::vector<float>(static_cast<std::size_t>(machine_.sms) * threads)};
  const auto of = [&](int turns) {
    return run_roof("arithmetic", in, in, out,
                    {.kernel = 1, .blocks = machine_.sms, .threads = threads, .turns = turns});
  };
  const RunRecord few = of(1), many = of(5);
  EXPECT_EQ(count(many, Counter::flops_f16) - count(few, Counter::flops_f16),
            4ull * 4 * 256 * static_cast<unsigned>(machine_.sms * threads));
  expect_within(4.0 * 256 * threads / (cycles(many) - cycles(few)), machine_.half2_lanes_per_sm, kRateTolerance,
                "lanes a clock");
}

TEST_P(Rates, TensorProducts) {
  const int threads = std::min(this->threads(4), most_threads());
  Buffer out{"out", std::vector<float>(static_cast<std::size_t>(machine_.sms) * threads)};
  const auto of = [&](int turns) { return run("tensor", {&out, 8, machine_.sms, threads, turns}); };
  const RunRecord few = of(1), many = of(5);
  const double products = 4.0 * 32 * threads / 32;
  EXPECT_EQ(static_cast<double>(count(many, Counter::flops_tensor) - count(few, Counter::flops_tensor)),
            products * 2 * 16 * 8 * 16 * machine_.sms);
  expect_within(products * 16 * 8 * 16 / (cycles(many) - cycles(few)),
                machine_.tensor_fmas_per_clock * machine_.mma_sync_share, kRateTolerance, "FMAs a clock and SM");
}

ROOFWALK_ON_ALL_MACHINES(Rates);

}  // namespace
}  // namespace roofwalk::test
