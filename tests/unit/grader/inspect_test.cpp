#include "grader/inspect.h"

#include <gtest/gtest.h>

#include "tests/support/records.h"

namespace roofwalk {
namespace {

using namespace roofwalk::testing;

Finding inspect_record(const RunRecord& record, const std::string& source) {
  const Roofs roofs = roofs_of(test_machine());
  return inspect(record, measure(record, vector_add_work(), roofs), test_machine(), roofs, source);
}

TEST(SourceLine, IsTrimmedAndMayBeMissing) {
  EXPECT_EQ(source_line("a\n  b;\t\r\nc", 2), "b;");
  EXPECT_EQ(source_line("a\n  b;\t\r\nc", 3), "c");
  EXPECT_EQ(source_line("a", 2), "");
  EXPECT_EQ(source_line("a", 0), "");
}

TEST(Inspect, NamesTheLineThatMovesMostBytes) {
  RunRecord record = vector_add_record();
  LineCounters other{3, {}};
  other.counters.set(Counter::dram_read_bytes, 100);
  record.kernels[0].lines.insert(record.kernels[0].lines.begin(), other);
  const Finding finding = inspect_record(record, std::string(9, '\n') + "  c[i] = 0;\n");
  EXPECT_EQ(finding.traffic_line, 10);
  EXPECT_EQ(finding.traffic_source, "c[i] = 0;");
}

TEST(Inspect, FallsBackToSectorsAtL1) {
  RunRecord record = vector_add_record();
  LineCounters scattered{4, {}};
  scattered.counters.set(Counter::l1_read_sectors, 1 << 20);
  record.kernels[0].lines = {scattered};
  EXPECT_EQ(inspect_record(record, "").traffic_line, 4);
}

TEST(Inspect, FindsScatteredAccessesButNotWideOnes) {
  RunRecord record = vector_add_record();
  record.kernels[0].parts = {};
  LineCounters line{10, {}};
  line.counters.set(Counter::global_load_requests, 1000);
  line.counters.set(Counter::l1_read_sectors, 32'000);
  line.counters.set(Counter::l1_lines, 32'000);
  record.kernels[0].lines = {line};
  EXPECT_EQ(inspect_record(record, "").diagnosis.cause, "over_fetch");
  EXPECT_EQ(inspect_record(record, "").diagnosis.line, 10);
  record.kernels[0].lines[0].counters.set(Counter::l1_read_sectors, 16'000);  // float4: 16 sectors in 4 whole lines
  record.kernels[0].lines[0].counters.set(Counter::l1_lines, 4'000);
  EXPECT_NE(inspect_record(record, "").diagnosis.cause, "over_fetch");
}

TEST(Inspect, OfARecordWithoutLinesNamesNone) {
  RunRecord record = vector_add_record();
  record.kernels.clear();
  EXPECT_EQ(inspect_record(record, "x").traffic_line, 0);
}

}  // namespace
}  // namespace roofwalk
