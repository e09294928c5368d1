// Execution tests of the opcode table: small kernels of PTX text run on the virtual GPU and are compared with
// references written from the PTX ISA. The references share no code with the virtual GPU.
//
//   ROW_TEST(Add, WrapsIntegers) {
//     EXPECT_EQ(execute("add.s32 =r, $r, $r", {{0x7fffffff}, {1}}), Values{0x80000000});
//   }
//
// tests the row PTX_ALU(Add, ...). It fails if none of its kernels contains the opcode, and
// OpcodeTable.EveryRowHasAnExecutionTest (rows_test.cpp) fails for a row without such a test.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "common/ptx/module.h"
#include "common/record/run_record.h"

namespace roofwalk::isa {

// A kernel k(in, out) around `body`. It declares %p<64>, %h<64> (16 bits), %r<64> (32), %rd<64>, %f<64> (.f32), %d<64>
// (.f64), 16 KiB of shared memory `s` and 256 bytes of local memory `l`. It sets %rd62 and %rd63 to the addresses of
// `in` and `out`, valid as generic and as global addresses, and %r63 to the thread's number in the grid.
struct Kernel {
  std::string body = {};
  std::string declarations = {};  // before the kernel: functions, variables
  std::uint32_t blocks = 1, threads = 32;
  std::vector<std::uint8_t> in = {};
  std::size_t out_bytes = 0;
  bool sanitize = true;
};

struct Outcome {
  std::vector<std::uint8_t> out;
  RunRecord record;

  template <class T>
  T at(std::size_t index) const {
    T value{};
    std::memcpy(&value, out.data() + index * sizeof value, sizeof value);
    return value;
  }
  std::uint64_t count(Counter counter) const { return record.counters[counter].value_or(0); }
};

// Runs the kernel. A rejected text fails the test; a fault is returned in the outcome.
Outcome run(const Kernel& kernel);
// Returns the one-line error for a text that is rejected at loading or launching; empty if it is accepted.
std::string refusal(const std::string& body);

using Values = std::vector<std::uint64_t>;  // one per lane

// Executes `instructions` once per lane: `$h`, `$r`, `$d` are sources of 16, 32 and 64 bits, taken from `sources` in
// order; `=h`, `=r`, `=d` are results, `=p` a predicate (1 or 0). Lanes fill whole warps, repeating the last value.
// Returns the results in order; a fault fails the test.
std::vector<Values> execute_all(const std::string& instructions, const std::vector<Values>& sources);
// Like execute_all(), for instructions with one result, which it returns.
Values execute(const std::string& instructions, const std::vector<Values>& sources);

// Returns the rows that have a test.
std::set<ptx::Opcode>& tested_rows();

class RowTest : public ::testing::Test {
 protected:
  explicit RowTest(ptx::Opcode row) : row_(row) {}
  void SetUp() override;
  void TearDown() override;

 private:
  ptx::Opcode row_;
};

template <ptx::Opcode row>
class Row : public RowTest {
 public:
  Row() : RowTest(row) {}
};

#define ROW_TEST(Id, name)                                                                                 \
  using Id = ::roofwalk::isa::Row<::roofwalk::ptx::Opcode::Id>;                                            \
  [[maybe_unused]] const bool is_tested_##Id##name = /* before main: the list is whole when tests start */ \
      ::roofwalk::isa::tested_rows().insert(::roofwalk::ptx::Opcode::Id).second;                           \
  TEST_F(Id, name)

std::string to_hex(std::uint64_t value);

// Executes the instruction on the sources and compares lane i with reference(i); failures show the lane's sources.
template <class Reference>
void expect_lanes(const std::string& instruction, const std::vector<Values>& sources, Reference&& reference) {
  const Values results = execute(instruction, sources);
  int shown = 0;
  for (std::size_t i = 0; i < results.size() && shown < 3; ++i) {
    const std::uint64_t expected = reference(i);
    if (results[i] == expected) continue;
    ++shown;
    std::string from;
    for (const Values& source : sources) from += to_hex(source[std::min(i, source.size() - 1)]) + " ";
    ADD_FAILURE() << instruction << " of " << from << "gives " << to_hex(results[i]) << ", not " << to_hex(expected);
  }
}

// Test values for an instruction: the edges of a type, then random bits.
enum class Kind { u16, u32, u64, f16, bf16, f32, f64 };
Values samples(Kind kind, std::size_t count, std::uint64_t seed = 1);
// Returns at least `count` tuples, one value per kind in each. Combinations of the types' edge values come first.
std::vector<Values> sample_tuples(const std::vector<Kind>& kinds, std::size_t count);

}  // namespace roofwalk::isa
