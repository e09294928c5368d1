#include "common/specs/machine.h"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <type_traits>
#include <variant>

#include "common/base/json.h"
#include "common/base/json_reader.h"
#include "common/specs/machine_file.h"
#include "common/specs/slice.h"

namespace roofwalk {
namespace {

namespace fs = std::filesystem;

// One number of a machine file. The unit must be the one that the code expects.
struct Quantity {
  std::string_view key;
  std::string_view unit;
  double least, most;  // values outside this range are typing errors
};

// A number of the machine: the key is the member's name.
struct Field {
  std::string_view key;
  std::string_view unit;
  double least, most;
  std::variant<int Machine::*, std::int64_t Machine::*, double Machine::*> member;

  Quantity quantity() const { return {key, unit, least, most}; }
};

// Upper bounds leave room for a few doublings over today's largest chips.
constexpr auto kFields = std::to_array<Field>({
    {"sms", "SMs", 1, 4096, &Machine::sms},
    {"clock_hz", "Hz", 1e6, 1e10, &Machine::clock_hz},
    {"max_threads_per_sm", "threads", 32, 8192, &Machine::max_threads_per_sm},
    {"max_blocks_per_sm", "blocks", 1, 256, &Machine::max_blocks_per_sm},
    {"max_threads_per_block", "threads", 32, 1024, &Machine::max_threads_per_block},
    {"registers_per_sm", "registers", 1024, 1 << 20, &Machine::registers_per_sm},
    {"register_allocation_unit", "registers", 1, 4096, &Machine::register_allocation_unit},
    {"max_registers_per_thread", "registers", 16, 255, &Machine::max_registers_per_thread},
    {"shared_bytes_per_sm", "bytes", 1024, 1 << 24, &Machine::shared_bytes_per_sm},
    {"max_shared_bytes_per_block", "bytes", 1024, 1 << 24, &Machine::max_shared_bytes_per_block},
    {"reserved_shared_bytes_per_block", "bytes", 0, 1 << 16, &Machine::reserved_shared_bytes_per_block},
    {"shared_allocation_bytes", "bytes", 1, 1 << 16, &Machine::shared_allocation_bytes},
    {"memory_bytes", "bytes", 1 << 20, 1e13, &Machine::memory_bytes},
    {"schedulers_per_sm", "warps/clock", 1, 64, &Machine::schedulers_per_sm},
    {"fp32_lanes_per_sm", "lanes", 1, 4096, &Machine::fp32_lanes_per_sm},
    {"half2_lanes_per_sm", "lanes", 1, 4096, &Machine::half2_lanes_per_sm},
    {"fp64_lanes_per_sm", "lanes", 1, 4096, &Machine::fp64_lanes_per_sm},
    {"int_lanes_per_sm", "lanes", 1, 4096, &Machine::int_lanes_per_sm},
    {"multiply_lanes_per_sm", "lanes", 1, 4096, &Machine::multiply_lanes_per_sm},
    {"special_lanes_per_sm", "lanes", 1, 4096, &Machine::special_lanes_per_sm},
    {"memory_lanes_per_sm", "lanes", 1, 4096, &Machine::memory_lanes_per_sm},
    {"shared_lanes_per_sm", "lanes", 1, 4096, &Machine::shared_lanes_per_sm},
    {"tensor_fmas_per_clock", "FMAs/clock", 1, 1e6, &Machine::tensor_fmas_per_clock},
    {"mma_sync_share", "of the data sheet", 0.1, 1, &Machine::mma_sync_share},
    {"l1_bytes", "bytes", 1024, 1 << 24, &Machine::l1_bytes},
    {"l1_shared_bytes", "bytes", 1024, 1 << 25, &Machine::l1_shared_bytes},
    {"l1_ways", "ways", 1, 1024, &Machine::l1_ways},
    {"l1_bytes_per_clock", "bytes/clock", 1, 4096, &Machine::l1_bytes_per_clock},
    {"l1_lines_per_clock", "lines/clock", 0.1, 32, &Machine::l1_lines_per_clock},
    {"l1_latency_cycles", "cycles", 1, 1000, &Machine::l1_latency_cycles},
    {"constant_l1_bytes", "bytes", 64, 1 << 20, &Machine::constant_l1_bytes},
    {"constant_l1_line_bytes", "bytes", 32, 4096, &Machine::constant_l1_line_bytes},
    {"constant_l1_ways", "ways", 1, 1024, &Machine::constant_l1_ways},
    {"constant_words_per_clock", "words/clock", 0.1, 32, &Machine::constant_words_per_clock},
    {"constant_l1_latency_cycles", "cycles", 1, 1000, &Machine::constant_l1_latency_cycles},
    {"constant_l15_bytes", "bytes", 128, 1 << 24, &Machine::constant_l15_bytes},
    {"constant_l15_line_bytes", "bytes", 128, 4096, &Machine::constant_l15_line_bytes},
    {"constant_l15_ways", "ways", 1, 1024, &Machine::constant_l15_ways},
    {"constant_l15_latency_cycles", "cycles", 1, 1000, &Machine::constant_l15_latency_cycles},
    {"l2_bytes", "bytes", 1024, 1e10, &Machine::l2_bytes},
    {"l2_ways", "ways", 1, 1024, &Machine::l2_ways},
    {"dram_access_bytes", "bytes", 32, 64, &Machine::dram_access_bytes},
    {"l2_bytes_per_clock", "bytes/clock", 1, 1e6, &Machine::l2_bytes_per_clock},
    {"l2_port_bytes_per_clock", "bytes/clock", 1, 4096, &Machine::l2_port_bytes_per_clock},
    {"l2_port_write_bytes_per_clock", "bytes/clock", 1, 4096, &Machine::l2_port_write_bytes_per_clock},
    {"sectors_in_flight_per_sm", "sectors", 128, 1 << 20, &Machine::sectors_in_flight_per_sm},
    {"l2_latency_cycles", "cycles", 1, 5000, &Machine::l2_latency_cycles},
    {"l2_far_latency_cycles", "cycles", 0, 5000, &Machine::l2_far_latency_cycles},
    {"atomic_updates_per_clock", "updates/clock", 0.1, 1e5, &Machine::atomic_updates_per_clock},
    {"atomic_update_cycles", "cycles", 0.1, 1000, &Machine::atomic_update_cycles},
    {"atomic_float_update_cycles", "cycles", 0.1, 1000, &Machine::atomic_float_update_cycles},
    {"atomic_request_cycles", "cycles", 0.1, 1000, &Machine::atomic_request_cycles},
    {"block_dispatch_cycles", "cycles", 0, 1000, &Machine::block_dispatch_cycles},
    {"block_start_cycles", "cycles", 0, 10000, &Machine::block_start_cycles},
    {"warp_start_cycles", "cycles", 0, 100, &Machine::warp_start_cycles},
    {"dram_bytes_per_s", "bytes/s", 1e8, 1e14, &Machine::dram_bytes_per_s},
    {"dram_sustained_share", "of the data sheet", 0.1, 1, &Machine::dram_sustained_share},
    {"dram_write_turnaround", "sectors", 0, 10, &Machine::dram_write_turnaround},
    {"dram_page_bytes", "bytes", 128, 1 << 16, &Machine::dram_page_bytes},
    {"dram_banks", "banks", 1, 1 << 20, &Machine::dram_banks},
    {"dram_page_opens_per_s", "pages/s", 0, 1e13, &Machine::dram_page_opens_per_s},
    {"dram_latency_cycles", "cycles", 1, 10000, &Machine::dram_latency_cycles},
    {"shared_bytes_per_clock", "bytes/clock", 1, 4096, &Machine::shared_bytes_per_clock},
    {"shared_latency_cycles", "cycles", 1, 1000, &Machine::shared_latency_cycles},
    {"shared_swap_cycles", "cycles", 1, 10000, &Machine::shared_swap_cycles},
    {"register_reads_per_clock", "registers/clock", 0.5, 16, &Machine::register_reads_per_clock},
    {"alu_latency_cycles", "cycles", 1, 1000, &Machine::alu_latency_cycles},
    {"branch_latency_cycles", "cycles", 1, 1000, &Machine::branch_latency_cycles},
    {"fp64_latency_cycles", "cycles", 1, 1000, &Machine::fp64_latency_cycles},
    {"special_latency_cycles", "cycles", 1, 1000, &Machine::special_latency_cycles},
    {"tensor_latency_cycles", "cycles", 1, 1000, &Machine::tensor_latency_cycles},
    {"shuffle_latency_cycles", "cycles", 1, 1000, &Machine::shuffle_latency_cycles},
    {"barrier_latency_cycles", "cycles", 1, 1000, &Machine::barrier_latency_cycles},
    {"barrier_warp_cycles", "cycles", 0, 1000, &Machine::barrier_warp_cycles},
    {"launch_ns", "ns", 1, 1e9, &Machine::launch_ns},
});

// The keys that [data_sheet] may contain.
constexpr auto kPromises = std::to_array<Quantity>({
    {"fp32_flops_per_s", "FLOP/s", 1e9, 1e18},
    {"half_flops_per_s", "FLOP/s", 1e9, 1e18},
    {"tensor_flops_per_s", "FLOP/s", 1e9, 1e18},
    {"dram_bytes_per_s", "bytes/s", 1e8, 1e14},
});

fs::path specs_folder() {
  const char* root = std::getenv("ROOFWALK_ROOT");
  return fs::path(root != nullptr && *root != '\0' ? root : ROOFWALK_SOURCE_DIR) / "common/specs";
}

// Returns a table's members in file order; the library sorts them by key.
std::vector<std::pair<std::string, const toml::node*>> in_order(const toml::table& table) {
  std::vector<std::pair<std::string, const toml::node*>> members;
  for (const auto& [key, node] : table) members.emplace_back(std::string(key.str()), &node);
  std::sort(members.begin(), members.end(), [](const auto& a, const auto& b) {
    const auto &left = a.second->source().begin, &right = b.second->source().begin;
    return std::pair(left.line, left.column) < std::pair(right.line, right.column);
  });
  return members;
}

MachineFigure figure_of(const std::string& key, const toml::table& entry, Json value) {
  return {.key = key,
          .unit = entry["unit"].value_or(std::string()),
          .source = entry["source"].value_or(std::string()),
          .value = std::move(value)};
}

// Reads one file. Every error has the file's name and, unless a key is missing, a line.
class Reader {
 public:
  Reader(std::string file, const toml::table& table) : file_(std::move(file)), table_(table) {}

  Result<MachineFile> read_file() const;

 private:
  Error error(std::string message, const toml::node* node = nullptr) const {
    const int line = node != nullptr ? static_cast<int>(node->source().begin.line) : 0;
    return {.message = std::move(message), .file = file_, .line = line};
  }

  // Returns the table at `key`, which must have exactly the expected keys and a non-empty source.
  Result<const toml::table*> entry(const toml::table& section, std::string_view key, bool has_unit) const;
  // Returns the value of `quantity`: a number of its unit, within its bounds.
  Result<const toml::node*> number(const toml::table& section, const Quantity& quantity, bool whole) const;
  Status read(const Field& field, Machine& machine) const;
  Status read_arch(Machine& machine) const;
  Status refuse_unknown_keys() const;
  Status check_together(const Machine& machine) const;
  Result<std::vector<std::pair<std::string, std::string>>> read_sources() const;
  Result<std::vector<MachineFigure>> read_data_sheet() const;
  std::vector<MachineFigure> figures(const Machine& machine) const;

  std::string file_;
  const toml::table& table_;
};

Result<const toml::table*> Reader::entry(const toml::table& section, std::string_view key, bool has_unit) const {
  const toml::node* node = section.get(key);
  if (node == nullptr) return error(fmt::format("the key '{}' is missing", key));
  const toml::table* table = node->as_table();
  if (table == nullptr || !table->contains("value")) {
    return error(
        fmt::format("'{}' must be {{ value = ...,{} source = \"...\" }}", key, has_unit ? " unit = \"...\"," : ""),
        node);
  }
  for (const auto& [name, inner] : *table) {
    const std::string_view text = name.str();
    if (text != "value" && text != "source" && !(has_unit && text == "unit")) {
      return error(fmt::format("'{}' has an unknown key '{}'", key, text), &inner);
    }
  }
  const auto source = (*table)["source"].value<std::string_view>();
  if (!source || source->find_first_not_of(" \t") == std::string_view::npos) {
    return error(fmt::format("'{}' has no source: say where the number comes from", key), node);
  }
  return table;
}

Result<const toml::node*> Reader::number(const toml::table& section, const Quantity& quantity, bool whole) const {
  ROOFWALK_TRY(const toml::table* table, entry(section, quantity.key, true));
  const toml::node& node = *table->get("value");
  if ((*table)["unit"].value<std::string_view>() != quantity.unit) {
    return error(fmt::format("'{}' must have the unit \"{}\"", quantity.key, quantity.unit), table);
  }
  if (whole ? !node.is_integer() : !node.is_number()) {
    return error(fmt::format("'{}' must be {} number", quantity.key, whole ? "a whole" : "a"), &node);
  }
  const double value = *node.value<double>();
  // Written so that NaN is also refused.
  if (!(value >= quantity.least && value <= quantity.most)) {
    return error(fmt::format("'{}' is {}, which is not between {} and {} {}", quantity.key, value, quantity.least,
                             quantity.most, quantity.unit),
                 &node);
  }
  return &node;
}

Status Reader::read(const Field& field, Machine& machine) const {
  const bool whole = !std::holds_alternative<double Machine::*>(field.member);
  ROOFWALK_TRY(const toml::node* node, number(table_, field.quantity(), whole));
  std::visit(
      [&](auto member) {
        using Value = std::remove_reference_t<decltype(machine.*member)>;
        machine.*member = *node->value<Value>();
      },
      field.member);
  return kOk;
}

Status Reader::read_arch(Machine& machine) const {
  ROOFWALK_TRY(const toml::table* table, entry(table_, "arch", false));
  const toml::node& node = *table->get("value");
  machine.arch = node.value_or(std::string());
  constexpr std::string_view kPrefix = "compute_";
  const std::string digits = machine.arch.starts_with(kPrefix) ? machine.arch.substr(kPrefix.size()) : "";
  const std::size_t count = std::min(digits.find_first_not_of("0123456789"), digits.size());
  const std::string suffix = digits.substr(count);
  if (count < 2 || count > 3 || !(suffix.empty() || suffix == "a" || suffix == "f")) {
    return error("'arch' must be what nvcc knows, such as \"compute_80\" or \"compute_90a\"", &node);
  }
  machine.compute_capability = std::stoi(digits.substr(0, count));
  return kOk;
}

Status Reader::refuse_unknown_keys() const {
  for (const auto& [key, node] : table_) {
    const std::string_view name = key.str();
    const bool known = name == "title" || name == "driver_name" || name == "arch" || name == "sources" ||
                       name == "data_sheet" ||
                       std::any_of(kFields.begin(), kFields.end(), [&](const Field& f) { return f.key == name; });
    if (!known) return error(fmt::format("unknown key '{}'", name), &node);
  }
  return kOk;
}

// Refuses figures that contradict each other although each is valid.
Status Reader::check_together(const Machine& m) const {
  constexpr int kWarp = 32, kLineBytes = 128;
  const auto at = [this](std::string_view key, std::string message) {
    return error(std::move(message), table_.get(key));
  };
  if (m.max_threads_per_sm % kWarp != 0)
    return at("max_threads_per_sm", "'max_threads_per_sm' must be whole warps of 32");
  if (m.max_threads_per_block > m.max_threads_per_sm) {
    return at("max_threads_per_block", "'max_threads_per_block' is more than an SM holds (max_threads_per_sm)");
  }
  if (m.max_shared_bytes_per_block + m.reserved_shared_bytes_per_block > m.shared_bytes_per_sm) {
    return at("max_shared_bytes_per_block",
              "'max_shared_bytes_per_block' and the reserved bytes are more than 'shared_bytes_per_sm'");
  }
  const std::pair<std::string_view, int> pipes[] = {
      {"fp32_lanes_per_sm", m.fp32_lanes_per_sm},         {"half2_lanes_per_sm", m.half2_lanes_per_sm},
      {"fp64_lanes_per_sm", m.fp64_lanes_per_sm},         {"int_lanes_per_sm", m.int_lanes_per_sm},
      {"multiply_lanes_per_sm", m.multiply_lanes_per_sm}, {"special_lanes_per_sm", m.special_lanes_per_sm},
      {"memory_lanes_per_sm", m.memory_lanes_per_sm},     {"shared_lanes_per_sm", m.shared_lanes_per_sm}};
  for (const auto& [key, lanes] : pipes) {
    if (lanes > m.schedulers_per_sm * kWarp)
      return at(key, fmt::format("'{}' is more than the schedulers can feed (32 lanes each)", key));
  }
  if (m.l1_bytes % (m.l1_ways * kLineBytes) != 0)
    return at("l1_bytes", "'l1_bytes' must be whole sets of 128-byte lines");
  if (m.l1_shared_bytes < m.l1_bytes || m.l1_shared_bytes < m.shared_bytes_per_sm + m.l1_ways * kLineBytes)
    return at("l1_shared_bytes", "'l1_shared_bytes' must hold 'l1_bytes', and 'shared_bytes_per_sm' with a set of L1");
  if (m.l2_bytes % (m.l2_ways * kLineBytes) != 0)
    return at("l2_bytes", "'l2_bytes' must be whole sets of 128-byte lines");
  if (m.dram_access_bytes != 32 && m.dram_access_bytes != 64)
    return at("dram_access_bytes", "'dram_access_bytes' must be one sector, 32 bytes, or two");
  if (!std::has_single_bit(static_cast<unsigned>(m.dram_page_bytes)))
    return at("dram_page_bytes", "'dram_page_bytes' must be a power of two");
  if (m.l2_far_latency_cycles != 0 &&
      (m.l2_far_latency_cycles < m.l2_latency_cycles || m.l2_far_latency_cycles > m.dram_latency_cycles)) {
    return at("l2_far_latency_cycles", "latencies must grow from L2 to its far half to DRAM");
  }
  if (m.l2_far_latency_cycles != 0 && m.l2_bytes % (2 * m.l2_ways * kLineBytes) != 0)
    return at("l2_bytes", "each half of 'l2_bytes' must be whole sets of 128-byte lines");
  if (m.constant_l1_bytes % (m.constant_l1_ways * m.constant_l1_line_bytes) != 0)
    return at("constant_l1_bytes", "'constant_l1_bytes' must be whole sets of its lines");
  if (m.constant_l15_bytes % (m.constant_l15_ways * m.constant_l15_line_bytes) != 0)
    return at("constant_l15_bytes", "'constant_l15_bytes' must be whole sets of its lines");
  if (m.constant_l15_line_bytes % kLineBytes != 0 || m.constant_l15_line_bytes % m.constant_l1_line_bytes != 0) {
    return at("constant_l15_line_bytes",
              "'constant_l15_line_bytes' must be whole lines of L2 (128 bytes) and of 'constant_l1_line_bytes'");
  }
  if (m.constant_l1_latency_cycles > m.constant_l15_latency_cycles) {
    return at("constant_l15_latency_cycles", "latencies must grow from the first constant cache to the second");
  }
  if (m.l1_latency_cycles > m.l2_latency_cycles || m.l2_latency_cycles > m.dram_latency_cycles) {
    return at("l2_latency_cycles", "latencies must grow from L1 to L2 to DRAM");
  }
  return kOk;
}

Result<std::vector<std::pair<std::string, std::string>>> Reader::read_sources() const {
  std::vector<std::pair<std::string, std::string>> sources;
  const toml::node* node = table_.get("sources");
  if (node == nullptr) return sources;
  if (!node->is_table()) return error("'sources' must be a table of names", node);
  for (const auto& [name, text] : in_order(*node->as_table())) {
    const auto meaning = text->value_exact<std::string>();
    if (!meaning) return error(fmt::format("'{}' in [sources] must be a text", name), text);
    sources.emplace_back(name, *meaning);
  }
  return sources;
}

Result<std::vector<MachineFigure>> Reader::read_data_sheet() const {
  std::vector<MachineFigure> promises;
  const toml::node* node = table_.get("data_sheet");
  if (node == nullptr) return promises;
  const toml::table* sheet = node->as_table();
  if (sheet == nullptr) return error("'data_sheet' must be a table of figures", node);
  for (const auto& [key, entry] : in_order(*sheet)) {
    const auto promise = std::find_if(kPromises.begin(), kPromises.end(),
                                      [&name = key](const Quantity& known) { return known.key == name; });
    if (promise == kPromises.end()) return error(fmt::format("unknown key '{}' in [data_sheet]", key), entry);
    ROOFWALK_TRY(const toml::node* value, number(*sheet, *promise, false));
    promises.push_back(figure_of(key, *entry->as_table(), *value->value<double>()));
  }
  return promises;
}

std::vector<MachineFigure> Reader::figures(const Machine& machine) const {
  const Json values = to_json(machine);
  std::vector<MachineFigure> figures;
  for (const auto& [key, node] : in_order(table_)) {
    if (!values.contains(key) || !node->is_table()) continue;  // the title, [data_sheet], [sources]
    figures.push_back(figure_of(key, *node->as_table(), values.at(key)));
  }
  return figures;
}

Result<MachineFile> Reader::read_file() const {
  Machine machine;
  machine.name = fs::path(file_).stem().string();
  ROOFWALK_TRY_STATUS(refuse_unknown_keys());
  const auto title = table_["title"].value<std::string>();
  if (!title || title->empty()) return error("the key 'title' is missing or not a text", table_.get("title"));
  machine.title = *title;
  if (const toml::node* node = table_.get("driver_name")) {
    if (!node->is_string()) return error("'driver_name' must be a text", node);
    machine.driver_name = node->value_or(std::string());
  }
  ROOFWALK_TRY_STATUS(read_arch(machine));
  for (const Field& field : kFields) ROOFWALK_TRY_STATUS(read(field, machine));
  ROOFWALK_TRY_STATUS(check_together(machine));
  ROOFWALK_TRY(auto data_sheet, read_data_sheet());
  ROOFWALK_TRY(auto sources, read_sources());
  return MachineFile{machine, figures(machine), std::move(data_sheet), std::move(sources)};
}

// Checks that the file's name can serve as the machine's name in walks and messages.
Status check_own_name(const fs::path& file, const std::vector<std::string>& known) {
  const std::string name = file.stem().string();
  const auto is_plain = [](unsigned char c) { return c < 0x80 && std::isalnum(c) != 0; };
  const bool plain = !name.empty() && is_plain(name.front()) && std::all_of(name.begin(), name.end(), [&](char c) {
    return is_plain(c) || c == '-' || c == '_' || c == '.';
  });
  if (!plain)
    return Error{
        .message = "a machine file's name is of letters, digits, '-', '_' and '.', the first of them a letter or digit",
        .file = file.string()};
  std::error_code ignored;
  if (std::find(known.begin(), known.end(), name) != known.end() &&
      !fs::equivalent(file, specs_folder() / (name + ".toml"), ignored)) {
    return Error{.message = fmt::format("'{}' is a machine of the project: give the file another name", name),
                 .file = file.string()};
  }
  return kOk;
}

Result<MachineFile> load_chip(const std::string& name) {
  fs::path file = name;
  const std::vector<std::string> known = machine_names();
  if (name.ends_with(".toml")) {
    ROOFWALK_TRY_STATUS(check_own_name(file, known));
  } else {
    // The name must be a known one, so that text such as "../x" never becomes a path.
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      return Error{.message = fmt::format("there is no machine '{}'", name),
                   .advice = fmt::format("known: {}; or give a file that ends in .toml", fmt::join(known, ", "))};
    }
    file = specs_folder() / (name + ".toml");
  }
  std::error_code ignored;
  if (!fs::is_regular_file(file, ignored)) {
    return Error{.message = "there is no such machine file", .file = file.string()};
  }
  try {
    const toml::table table = toml::parse_file(file.string());
    return Reader(file.string(), table).read_file();
  } catch (const toml::parse_error& e) {
    return Error{.message = std::string(e.description()),
                 .file = file.string(),
                 .line = static_cast<int>(e.source().begin.line)};
  }
}

}  // namespace

std::string Machine::file_name() const { return is_slice() ? fmt::format("{}-{}-sms", chip_name(), sms) : name; }

Result<MachineFile> load_machine_file(const std::string& name) {
  const MachineName parts = parse_machine_name(name);
  ROOFWALK_TRY(MachineFile file, load_chip(parts.chip));
  if (!parts.sms) return file;
  return slice_of(std::move(file), *parts.sms);
}

Result<Machine> load_machine(const std::string& name) {
  ROOFWALK_TRY(MachineFile file, load_machine_file(name));
  return std::move(file.machine);
}

std::vector<std::string> machine_names() {
  std::vector<std::string> names;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(specs_folder(), ignored)) {
    if (entry.path().extension() == ".toml") names.push_back(entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

Json to_json(const Machine& machine) {
  Json json{{"name", machine.name},
            {"title", machine.title},
            {"arch", machine.arch},
            {"compute_capability", machine.compute_capability}};
  if (machine.is_slice()) json["chip_sms"] = machine.chip_sms;
  for (const Field& field : kFields) {
    std::visit([&](auto member) { json[std::string(field.key)] = machine.*member; }, field.member);
  }
  json["peak_fp32_flops_per_s"] = machine.peak_fp32_flops_per_s();
  json["peak_half_flops_per_s"] = machine.peak_half_flops_per_s();
  json["peak_tensor_flops_per_s"] = machine.peak_tensor_flops_per_s();
  json["peak_mma_sync_flops_per_s"] = machine.peak_mma_sync_flops_per_s();
  json["l2_bytes_per_s"] = machine.l2_bytes_per_s();
  json["l1_bytes_per_s"] = machine.l1_bytes_per_s();
  json["shared_bytes_per_s"] = machine.shared_bytes_per_s();
  json["ridge_flops_per_byte"] = machine.ridge_flops_per_byte();
  json["tensor_ridge_flops_per_byte"] = machine.tensor_ridge_flops_per_byte();
  return json;
}

Result<Machine> machine_from_json(const Json& json) {
  Machine machine;
  JsonReader in(json, "the machine");
  in.text("name", machine.name);
  in.text("title", machine.title);
  in.text("arch", machine.arch);
  in.whole("compute_capability", machine.compute_capability);
  if (json.contains("chip_sms")) in.whole("chip_sms", machine.chip_sms, 2);
  for (const Field& field : kFields) {
    const std::string key(field.key);
    std::visit(
        [&](auto member) {
          using Value = std::remove_reference_t<decltype(machine.*member)>;
          if constexpr (std::is_integral_v<Value>) {
            in.whole(key.c_str(), machine.*member, Value{0}, static_cast<Value>(field.most));
          } else {
            in.number(key.c_str(), machine.*member, field.most);
          }
        },
        field.member);
  }
  if (in.failed()) return in.end().error();
  if (machine.is_slice() && (machine.chip_sms <= machine.sms || machine.name.find('/') == std::string::npos))
    return Error{.message = "the machine: its name and its SMs contradict each other"};
  // Refuses contradictory derived figures and unknown members.
  if (json_line(to_json(machine)) != json_line(json))
    return Error{.message = "the machine: its figures contradict each other"};
  return machine;
}

}  // namespace roofwalk
