#include "common/record/run_record_json.h"

#include <utility>

#include "common/base/json_reader.h"

namespace roofwalk {
namespace {

// Limits that no run can reach: a plan has at most 10,000 steps, a source 1 MiB.
constexpr std::size_t kMostKernels = 100'000, kMostLines = 1 << 20, kMostOfALine = 1 << 20, kMostWarnings = 1000,
                      kMostNotes = 100;
constexpr std::size_t kMostPrintedBytes = 1 << 20;
constexpr int kMostLine = 1 << 30;

constexpr double TimeParts::*kParts[] = {&TimeParts::dram_ns,      &TimeParts::l2_ns,     &TimeParts::l1_ns,
                                         &TimeParts::shared_ns,    &TimeParts::issue_ns,  &TimeParts::flops_ns,
                                         &TimeParts::latency_ns,   &TimeParts::launch_ns, &TimeParts::constant_ns,
                                         &TimeParts::contention_ns};

Json whole_json(const Dim3& dim) { return Json::array({dim.x, dim.y, dim.z}); }

Json whole_json(const Counters& counters) {
  Json out = Json::array();
  for (std::size_t i = 0; i < kCounterCount; ++i) {
    const auto value = counters[static_cast<Counter>(i)];
    out.push_back(value ? Json(*value) : Json(nullptr));
  }
  return out;
}

Json whole_json(const TimeParts& parts) {
  Json out = Json::array();
  for (const auto part : kParts) out.push_back(parts.*part);
  return out;
}

Json whole_json(const LineCounters& line) {
  Json held_up = Json::array(), loads = Json::array();
  for (const HeldUpBy& by : line.held_up) held_up.push_back({by.line, static_cast<int>(by.wait), by.cycles});
  for (const LineCounters::Load& load : line.loads) loads.push_back({load.sectors, load.requests});
  return {{"line", line.line},          {"counters", whole_json(line.counters)},
          {"waits", line.waits.cycles}, {"held_up", std::move(held_up)},
          {"loads", std::move(loads)},  {"callers", line.callers}};
}

Json whole_json(const KernelRecord& kernel) {
  Json lines = Json::array();
  for (const LineCounters& line : kernel.lines) lines.push_back(whole_json(line));
  return {{"name", kernel.name},
          {"grid", whole_json(kernel.grid)},
          {"block", whole_json(kernel.block)},
          {"line", kernel.line},
          {"registers_per_thread", kernel.registers_per_thread},
          {"shared_bytes", kernel.shared_bytes},
          {"local_bytes_per_thread", kernel.local_bytes_per_thread},
          {"spilled_bytes_per_thread", kernel.spilled_bytes_per_thread},
          {"shared_counts_from", static_cast<int>(kernel.shared_counts_from)},
          {"resident_blocks_per_sm", kernel.resident_blocks_per_sm},
          {"occupancy", kernel.occupancy},
          {"elapsed_ns", kernel.elapsed_ns},
          {"parts", whole_json(kernel.parts)},
          {"waits", kernel.waits.cycles},
          {"counters", whole_json(kernel.counters)},
          {"lines", std::move(lines)}};
}

void read_dim(JsonReader& in, const char* key, Dim3& out) {
  std::uint32_t* const sides[] = {&out.x, &out.y, &out.z};
  in.exactly(key, 3, [&](const Json& side, std::size_t i) { in.take_whole(&side, key, *sides[i]); });
}

void read_counters(JsonReader& in, Counters& out) {
  in.exactly("counters", kCounterCount, [&](const Json& value, std::size_t i) {
    if (value.is_null()) return;
    std::uint64_t count = 0;
    in.take_whole(&value, "counters", count);
    out.set(static_cast<Counter>(i), count);
  });
}

void read_waits(JsonReader& in, WarpCycles& out) {
  in.exactly("waits", kWaitCount,
             [&](const Json& value, std::size_t i) { in.take_number(&value, "waits", out.cycles[i]); });
}

// Whether `json` is an array of `count` items.
bool is_row(const Json& json, std::size_t count) { return json.is_array() && json.size() == count; }

Result<LineCounters> line_from_json(const Json& json) {
  LineCounters out;
  JsonReader in(json, "a line of the record");
  in.whole("line", out.line, 0, kMostLine);
  read_counters(in, out.counters);
  read_waits(in, out.waits);
  in.each("held_up", kMostOfALine, [&](const Json& item) -> Status {
    if (!is_row(item, 3)) return Error{.message = "a line of the record: `held_up` must hold line, wait and cycles"};
    HeldUpBy by;
    int wait = 0;
    in.take_whole(&item[0], "held_up", by.line, 0, kMostLine);
    in.take_whole(&item[1], "held_up", wait, 0, static_cast<int>(kWaitCount) - 1);
    in.take_number(&item[2], "held_up", by.cycles);
    by.wait = static_cast<Wait>(wait);
    out.held_up.push_back(by);
    return kOk;
  });
  in.each("loads", kMostOfALine, [&](const Json& item) -> Status {
    if (!is_row(item, 2)) return Error{.message = "a line of the record: `loads` must hold sectors and requests"};
    LineCounters::Load load;
    in.take_number(&item[0], "loads", load.sectors);
    in.take_number(&item[1], "loads", load.requests);
    out.loads.push_back(load);
    return kOk;
  });
  in.each("callers", kMostOfALine, [&](const Json& item) -> Status {
    int caller = 0;
    in.take_whole(&item, "callers", caller, 0, kMostLine);
    if (!out.callers.empty() && caller <= out.callers.back()) in.fail("`callers` must ascend");
    out.callers.push_back(caller);
    return kOk;
  });
  ROOFWALK_TRY_STATUS(in.end());
  return out;
}

Result<KernelRecord> kernel_from_json(const Json& json) {
  KernelRecord out;
  JsonReader in(json, "a kernel of the record");
  in.text("name", out.name, 1 << 16);
  read_dim(in, "grid", out.grid);
  read_dim(in, "block", out.block);
  in.whole("line", out.line, 0, kMostLine);
  in.whole("registers_per_thread", out.registers_per_thread);
  in.whole("shared_bytes", out.shared_bytes);
  in.whole("local_bytes_per_thread", out.local_bytes_per_thread);
  in.whole("spilled_bytes_per_thread", out.spilled_bytes_per_thread);
  int counts_from = 0;
  in.whole("shared_counts_from", counts_from, 0, static_cast<int>(CountsFrom::sass));
  out.shared_counts_from = static_cast<CountsFrom>(counts_from);
  in.whole("resident_blocks_per_sm", out.resident_blocks_per_sm);
  in.number("occupancy", out.occupancy, 1);
  in.number("elapsed_ns", out.elapsed_ns);
  in.exactly("parts", std::size(kParts),
             [&](const Json& value, std::size_t i) { in.take_number(&value, "parts", out.parts.*kParts[i]); });
  read_waits(in, out.waits);
  read_counters(in, out.counters);
  in.each("lines", kMostLines, [&](const Json& item) -> Status {
    ROOFWALK_TRY(LineCounters line, line_from_json(item));
    if (!out.lines.empty() && line.line <= out.lines.back().line) in.fail("`lines` must ascend");
    out.lines.push_back(std::move(line));
    return kOk;
  });
  ROOFWALK_TRY_STATUS(in.end());
  return out;
}

Result<Fault> fault_from_json(const Json& json) {
  Fault out;
  JsonReader in(json, "a fault of the record");
  int kind = 0;
  in.whole("kind", kind, 0, static_cast<int>(FaultKind::resource));
  out.kind = static_cast<FaultKind>(kind);
  in.text("kernel", out.kernel, 1 << 16);
  read_dim(in, "block", out.block);
  read_dim(in, "thread", out.thread);
  in.text("file", out.file);
  in.whole("line", out.line, 0, kMostLine);
  in.text("buffer", out.buffer, 1 << 16);
  in.unless_null("index", [&](const Json& value) -> Status {
    out.index = 0;
    in.take_whole(&value, "index", *out.index, std::numeric_limits<std::int64_t>::min());
    return kOk;
  });
  in.whole("extent", out.extent);
  in.text("message", out.message, 1 << 16);
  ROOFWALK_TRY_STATUS(in.end());
  return out;
}

Result<Printed> printed_from_json(const Json& json) {
  Printed out;
  JsonReader in(json, "what the record says was printed");
  in.text("text", out.text, kMostPrintedBytes);
  in.whole("more_lines", out.more_lines);
  ROOFWALK_TRY_STATUS(in.end());
  return out;
}

}  // namespace

// Returns the readable form, except that the kind is a number.
Json whole_json(const Fault& fault) {
  Json json = to_json(fault);
  json["kind"] = static_cast<int>(fault.kind);
  return json;
}

Json whole_json(const RunRecord& record) {
  Json kernels = Json::array(), warnings = Json::array();
  for (const KernelRecord& kernel : record.kernels) kernels.push_back(whole_json(kernel));
  for (const Fault& warning : record.warnings) warnings.push_back(whole_json(warning));
  return {{"device", record.device},
          {"time_is_modelled", record.time_is_modelled},
          {"bytes_are_modelled", record.bytes_are_modelled},
          {"elapsed_ns", record.elapsed_ns},
          {"counters", whole_json(record.counters)},
          {"kernels", std::move(kernels)},
          {"printed", to_json(record.printed)},
          {"warnings", std::move(warnings)},
          {"watched_line", record.watched_line},
          {"passed_milestone", record.passed_milestone},
          {"untraced_blocks", record.untraced_blocks},
          {"notes", record.notes},
          {"fault", record.fault ? whole_json(*record.fault) : Json(nullptr)}};
}

Json to_json(const RunRecord& record) { return whole_json(record); }

Result<BlockNumbers> block_numbers_from_json(const Json& json) {
  constexpr std::size_t kMostBlocks = 1000;  // per launch
  if (!json.is_array() || json.size() > kMostKernels) return Error{.message = "blocks must be an array by launch"};
  BlockNumbers out;
  for (const Json& launch : json) {
    if (!launch.is_array() || launch.size() > kMostBlocks)
      return Error{.message = "blocks of a launch must be an array"};
    for (const Json& block : launch) {
      if (!block.is_number_unsigned()) return Error{.message = "the number of a block must be a whole one"};
    }
    out.push_back(launch.get<std::vector<std::uint64_t>>());
  }
  return out;
}

Result<RunRecord> run_record_from_json(const Json& json) {
  RunRecord out;
  JsonReader in(json, "the record");
  in.text("device", out.device);
  in.flag("time_is_modelled", out.time_is_modelled);
  in.flag("bytes_are_modelled", out.bytes_are_modelled);
  in.number("elapsed_ns", out.elapsed_ns);
  read_counters(in, out.counters);
  in.each("kernels", kMostKernels, [&](const Json& item) -> Status {
    ROOFWALK_TRY(KernelRecord kernel, kernel_from_json(item));
    out.kernels.push_back(std::move(kernel));
    return kOk;
  });
  in.with("printed", [&](const Json& value) -> Status {
    ROOFWALK_TRY(out.printed, printed_from_json(value));
    return kOk;
  });
  in.each("warnings", kMostWarnings, [&](const Json& item) -> Status {
    ROOFWALK_TRY(Fault warning, fault_from_json(item));
    out.warnings.push_back(std::move(warning));
    return kOk;
  });
  in.whole("watched_line", out.watched_line, 0, kMostLine);
  in.flag("passed_milestone", out.passed_milestone);
  in.with("untraced_blocks", [&](const Json& launches) -> Status {
    ROOFWALK_TRY(out.untraced_blocks, block_numbers_from_json(launches));
    return kOk;
  });
  in.each("notes", kMostNotes, [&](const Json& item) -> Status {
    if (!item.is_string()) return Error{"`notes` holds something that is no text"};
    out.notes.push_back(item.get<std::string>());
    return kOk;
  });
  in.unless_null("fault", [&](const Json& value) -> Status {
    ROOFWALK_TRY(out.fault, fault_from_json(value));
    return kOk;
  });
  ROOFWALK_TRY_STATUS(in.end());
  return out;
}

}  // namespace roofwalk
