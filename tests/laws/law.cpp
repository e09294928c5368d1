#include "tests/laws/law.h"

#include "common/base/pattern.h"

namespace roofwalk::test {
namespace {

namespace fs = std::filesystem;

// Machines with odd numbers: if all were powers of two, a model with a wrong parameter could still be right by chance.
// No pipe's number of lanes is a multiple of 32, the size of a warp. Parameters not listed are those of classroom.
struct OddMachine {
  const char* name;
  std::map<std::string, std::string> values;
};

const OddMachine kOddMachines[] = {
    // Three schedulers, a narrow path to memory, and latencies unlike those of any real chip.
    {"odd-five-sms",
     {{"sms", "5"},
      {"clock_hz", "1.1e9"},
      {"max_threads_per_sm", "1152"},
      {"max_threads_per_block", "768"},
      {"schedulers_per_sm", "3"},
      {"fp32_lanes_per_sm", "48"},
      {"half2_lanes_per_sm", "24"},
      {"fp64_lanes_per_sm", "6"},
      {"int_lanes_per_sm", "36"},
      {"multiply_lanes_per_sm", "24"},
      {"special_lanes_per_sm", "9"},
      {"memory_lanes_per_sm", "16"},
      {"shared_lanes_per_sm", "24"},
      {"tensor_fmas_per_clock", "700"},
      {"alu_latency_cycles", "7"},
      {"fp64_latency_cycles", "19"},
      {"special_latency_cycles", "29"},
      {"tensor_latency_cycles", "41"},
      {"shuffle_latency_cycles", "31"},
      {"barrier_latency_cycles", "43"},
      {"shared_latency_cycles", "27"},
      {"l1_bytes", "49152"},
      {"l1_ways", "12"},
      {"l1_bytes_per_clock", "96"},
      {"l1_lines_per_clock", "0.75"},
      {"l1_latency_cycles", "37"},
      {"constant_l1_bytes", "1536"},
      {"constant_l1_ways", "3"},
      {"constant_words_per_clock", "0.5"},
      {"constant_l1_latency_cycles", "41"},
      {"constant_l15_bytes", "32768"},
      {"constant_l15_ways", "4"},
      {"constant_l15_latency_cycles", "97"},
      {"l2_bytes", "393216"},
      {"l2_ways", "12"},
      {"l2_bytes_per_clock", "170"},
      {"l2_port_bytes_per_clock", "48"},
      {"sectors_in_flight_per_sm", "701"},
      {"l2_latency_cycles", "311"},
      {"dram_bytes_per_s", "53e9"},
      {"dram_sustained_share", "0.83"},
      {"dram_write_turnaround", "0.3"},
      {"dram_page_bytes", "512"},
      {"dram_banks", "77"},
      {"dram_page_opens_per_s", "0.7e9"},
      {"dram_latency_cycles", "777"},
      {"launch_ns", "1313"}}},
    // Two schedulers; few enough sectors in flight to limit an SM's reads; shared memory that serves half a warp per
    // clock.
    {"odd-eleven-sms",
     {{"sms", "11"},
      {"clock_hz", "0.9e9"},
      {"max_threads_per_sm", "1280"},
      {"max_threads_per_block", "640"},
      {"schedulers_per_sm", "2"},
      {"fp32_lanes_per_sm", "40"},
      {"half2_lanes_per_sm", "52"},
      {"fp64_lanes_per_sm", "10"},
      {"int_lanes_per_sm", "56"},
      {"multiply_lanes_per_sm", "20"},
      {"special_lanes_per_sm", "14"},
      {"memory_lanes_per_sm", "20"},
      {"shared_lanes_per_sm", "28"},
      {"tensor_fmas_per_clock", "330"},
      {"alu_latency_cycles", "5"},
      {"fp64_latency_cycles", "11"},
      {"special_latency_cycles", "23"},
      {"tensor_latency_cycles", "37"},
      {"shuffle_latency_cycles", "17"},
      {"barrier_latency_cycles", "33"},
      {"shared_bytes_per_clock", "64"},
      {"shared_latency_cycles", "39"},
      {"l1_bytes", "40960"},
      {"l1_ways", "10"},
      {"l1_bytes_per_clock", "70"},
      {"l1_lines_per_clock", "1.3"},
      {"l1_latency_cycles", "53"},
      {"constant_l1_bytes", "4096"},
      {"constant_l1_line_bytes", "128"},
      {"constant_l1_ways", "8"},
      {"constant_words_per_clock", "2"},
      {"constant_l1_latency_cycles", "23"},
      {"constant_l15_line_bytes", "128"},
      {"constant_l15_ways", "16"},
      {"constant_l15_latency_cycles", "61"},
      {"l2_bytes", "327680"},
      {"l2_ways", "20"},
      {"l2_bytes_per_clock", "310"},
      {"l2_port_bytes_per_clock", "37"},
      {"sectors_in_flight_per_sm", "128"},
      {"l2_latency_cycles", "243"},
      {"l2_far_latency_cycles", "371"},
      {"dram_bytes_per_s", "210e9"},
      {"dram_sustained_share", "0.91"},
      {"dram_write_turnaround", "0.15"},
      {"dram_latency_cycles", "619"},
      {"launch_ns", "777"}}},
};

std::string text_of(const fs::path& file) {
  std::ifstream in(file);
  EXPECT_TRUE(in.good()) << file;
  return {std::istreambuf_iterator<char>(in), {}};
}

std::string text_of(const OddMachine& odd) {
  std::string text = text_of(source_root() / "common/specs/classroom.toml");
  for (const auto& [key, value] : odd.values) {
    const Pattern line("(\n" + key + " *= \\{ value = )[^,]*(,[^\n]*source = )[^\n]*");
    EXPECT_TRUE(line.search(text)) << key;
    text = line.replace_all(text, "$01" + value + "$2\"invented: odd\" }");
  }
  return text;
}

}  // namespace

std::vector<std::string> law_machines() {
  std::vector<std::string> names = machine_names();
  for (const OddMachine& odd : kOddMachines) names.emplace_back(odd.name);
  return names;
}

std::vector<std::string> small_law_machines() {
  constexpr int kSms = 8;
  std::vector<std::string> names = law_machines();
  for (std::string& name : names) {
    const auto chip = load_machine(name);
    if (chip && chip->sms > 2 * kSms) name += "/" + std::to_string(kSms);
  }
  return names;
}

std::string name_of_machine(const testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  std::replace_if(
      name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return name;
}

Law::Law() {
  device_ = "virtual:" + GetParam();
  for (const OddMachine& odd : kOddMachines) {
    if (GetParam() != odd.name) continue;
    folder_ = fs::temp_directory_path() / ("roofwalk-laws-" + std::to_string(getpid()));
    fs::create_directories(folder_);
    const fs::path file = folder_ / (GetParam() + ".toml");
    std::ofstream(file) << text_of(odd);
    device_ = "virtual:" + file.string();
  }
  runner_ = std::make_unique<Runner>(device_);
  machine_ = runner_->device().machine();
}

Law::~Law() {
  if (!folder_.empty()) fs::remove_all(folder_);
}

RunRecord Law::run(const std::string& name, const std::vector<Runner::Argument>& arguments, const RunOptions& options) {
  return run_file("tests/laws/kernels/" + name + ".cu", arguments, options);
}

RunRecord Law::run_roof(const std::string& name, Buffer& a, Buffer& b, Buffer& c, const RoofKernel& call) {
  constexpr int kWindows = 1;
  return run_file("common/roofs/" + name + ".cu",
                  {&a, &b, &c, call.kernel, call.vectors, kWindows, call.blocks, call.threads, call.turns}, {});
}

RunRecord Law::run_file(const fs::path& file, const std::vector<Runner::Argument>& arguments,
                        const RunOptions& options) {
  auto known = artifacts_.find(file.string());
  if (known == artifacts_.end()) {
    auto artifact = compile(text_of(source_root() / file));
    if (!artifact) throw std::runtime_error(artifact.error().text());
    known = artifacts_.emplace(file.string(), std::move(*artifact)).first;
  }
  constexpr std::uint64_t kOfLargeMachines = 400'000'000'000;  // enough for a hundred times a chapter's problem
  RunOptions sanitized = options;                              // to test that the microkernels have no races
  sanitized.sanitize = true;
  sanitized.max_work = std::max(sanitized.max_work, kOfLargeMachines);
  const auto once = [&] {
    auto record = runner_->run(known->second, arguments, sanitized);
    if (!record) throw std::runtime_error(record.error().text());
    if (record->fault) throw std::runtime_error(record->fault->message);
    return std::move(*record);
  };
  RunRecord record = once();
  if (record.untraced_blocks.empty()) return record;
  sanitized.also_traced = std::move(record.untraced_blocks);  // as Workspace::run_planned() does
  return once();
}

int Law::most_threads() const {
  const int most = std::min(machine_.max_threads_per_block, machine_.max_threads_per_sm);
  return most / threads(1) * threads(1);
}

int Law::shared_bytes_for(int blocks) const {
  const int unit = machine_.shared_allocation_bytes;
  const int part = machine_.shared_bytes_per_sm / blocks / unit * unit - machine_.reserved_shared_bytes_per_block;
  return std::min(part, machine_.max_shared_bytes_per_block);
}

double Law::dram_stream_bytes_per_clock(double read_share) const {
  double most = dram_mixture_bytes_per_clock(read_share);
  if (read_share > 0) {
    const double read = std::min(in_flight_bytes_per_clock(machine_.dram_latency_cycles), ports_bytes_per_clock());
    most = std::min(most, read / read_share);
  }
  return most;
}

double Law::cycles_per_turn(Chain chain, int chain_count, int blocks, int block_threads, int turns) {
  Buffer in{"in", {0.5f, 1, 1, 2, 3, 4, 5, 6, 7, 8}};
  Buffer out{"out", std::vector<float>(static_cast<std::size_t>(blocks) * block_threads)};
  const auto of = [&](int count) {
    return cycles(
        run("arithmetic", {&in, &out, static_cast<int>(chain), chain_count, blocks, block_threads, 0, count}));
  };
  return (of(1 + turns) - of(1)) / turns;
}

DeviceBuffer Law::nodes(std::uint32_t count, std::uint32_t step) {
  constexpr std::uint64_t kNodeBytes = 256;
  auto buffer = runner_->device().allocate("nodes", count * kNodeBytes, 8);
  if (!buffer) throw std::runtime_error(buffer.error().text());
  std::vector<std::uint64_t> words(count * kNodeBytes / 8);
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::uint64_t node = (i / 32 + step) % count;
    words[i] = buffer->address + node * kNodeBytes + i % 32 * 8;
  }
  runner_->device().write(*buffer, 0, {reinterpret_cast<const std::uint8_t*>(words.data()), words.size() * 8});
  return *buffer;
}

RunRecord Law::chase(const DeviceBuffer& nodes, int chains, int blocks, int block_threads, int shared_bytes, int hops) {
  Buffer ends{"ends", std::vector<float>(static_cast<std::size_t>(blocks) * block_threads)};
  return run("chase", {nodes, &ends, chains, blocks, block_threads, shared_bytes, hops});
}

double share(const KernelRecord& kernel, Wait wait) {
  const double all = kernel.waits.total() - kernel.waits[Wait::tail];
  return all == 0 ? 0 : kernel.waits[wait] / all;
}

}  // namespace roofwalk::test
