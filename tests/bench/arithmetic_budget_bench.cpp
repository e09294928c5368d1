// Measures the host's processor time, on one thread, per unit of a run's work budget, for each form of arithmetic that
// the virtual GPU supports: runs a loop of only that form, on numbers that differ by lane. Fails if a unit takes far
// more time than common/vgpu/state/work.h assumes; the form then needs a weight.
//
//   arithmetic_budget_bench            the most expensive forms per unit
//   arithmetic_budget_bench cvt.rn     every form that contains this text
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "common/base/pattern.h"
#include "common/build/files.h"
#include "common/ptx/parser.h"
#include "common/specs/machine.h"
#include "common/vgpu/exec/subnormals.h"
#include "common/vgpu/gpu.h"
#include "common/vgpu/lowering/work_cost.h"
#include "common/vgpu/state/work.h"

namespace roofwalk::vgpu {
namespace {

namespace fs = std::filesystem;
using ptx::Form;
using ptx::Type;

// Registers per class to read from, and copies of the form in the loop's body: so many that the host cannot learn to
// predict its branches.
constexpr int kRegisters = 32, kCopies = 64;
constexpr int kThreads = 128, kTurns = 120;
constexpr std::int64_t kInstructions = std::int64_t{kTurns} * kCopies * (kThreads / 32);

// Five times the maximum measured on an idle Zen 5. Subnormal floats take up to 50 ns a unit on Intel's processors.
constexpr double kMostNsPerUnit = 80;
constexpr int kAttempts = 4;  // measurements of a form that seems too expensive: the host may be busy
constexpr std::size_t kShown = 20;

struct RegisterClass {
  const char* prefix;
  const char* type;   // type in declarations
  const char* moved;  // type in loads
};

// The register classes, as declared in the files with all forms.
constexpr RegisterClass kClasses[] = {
    {"p", "pred", ""},    {"h", "b16", "b16"},  {"us", "u16", "u16"}, {"ss", "s16", "s16"},  {"hf", "f16", "b16"},
    {"r", "b32", "b32"},  {"u", "u32", "u32"},  {"s", "s32", "s32"},  {"f", "f32", "f32"},   {"rd", "b64", "b64"},
    {"ud", "u64", "u64"}, {"sd", "s64", "s64"}, {"d", "f64", "f64"},  {"hh", "f16x2", "b32"}};

// A line of a file with all forms, and its cost.
struct ArithmeticForm {
  std::string text;
  Type of = Type::none;      // type of its sources
  std::uint64_t weight = 0;  // in units of work, with what is charged for subnormal floats
  double ns = 0;             // per warp instruction
  double ns_per_unit() const { return ns / static_cast<double>(weight); }
  bool operator<(const ArithmeticForm& other) const { return text < other.text; }
};

bool is_arithmetic(const ptx::Instruction& in) {
  switch (ptx::info(in.opcode).form) {
    case Form::alu:
    case Form::convert:
    case Form::cvta:
    case Form::move:
    case Form::select:
    case Form::compare:
    case Form::set:
    case Form::carry:
      break;
    default:
      return false;
  }
  return std::all_of(in.operands.begin(), in.operands.end(), [](const ptx::Operand& operand) {
    using Kind = ptx::Operand::Kind;
    return operand.kind == Kind::reg || operand.kind == Kind::immediate || operand.kind == Kind::vector ||
           operand.kind == Kind::none;
  });
}

std::set<ArithmeticForm> all_forms() {
  std::set<ArithmeticForm> out;
  for (const auto& entry : fs::directory_iterator(fs::path(ROOFWALK_TEST_SOURCE_DIR) / "tests/ptx/parse")) {
    if (!entry.path().filename().string().starts_with("forms-")) continue;
    const std::string text = read_file(entry.path(), 1 << 20).value_or("");
    const auto module = ptx::parse(text, entry.path().filename().string());
    if (!module.ok()) continue;
    std::vector<std::string> lines;
    std::istringstream in_lines(text);
    for (std::string line; std::getline(in_lines, line);) lines.push_back(line);
    for (const ptx::Function& function : module->functions) {
      for (const ptx::Instruction& in : function.instructions) {
        const std::string& line = lines.at(static_cast<std::size_t>(in.ptx_line - 1));
        const bool alone = std::count(line.begin(), line.end(), ';') == 1 && line.back() == ';' && in.guard < 0;
        if (!alone || !is_arithmetic(in)) continue;
        const Type of = in.source_type == Type::none ? in.type : in.source_type;
        out.insert({.text = line, .of = of, .weight = work_of(in, function, {})});
      }
    }
  }
  return out;
}

// A kernel k(in, turns) that runs a form in a loop; `in` holds 64 bits for each register and thread.
class Kernel {
 public:
  explicit Kernel(const std::string& form) {
    for (int copy = 0; copy < kCopies; ++copy) body_ += copy_of(form, copy) + "\n";
  }

  std::string text() const {
    return ".version 9.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 in, .param .u32 turns) {\n"
           ".reg .b64 %from; .reg .b32 %word, %thread, %left; .reg .pred %again;\n" +
           declared_ +
           "ld.param.u64 %from, [in];\nld.param.u32 %left, [turns];\nmov.u32 %thread, %tid.x;\n"
           "mad.wide.u32 %from, %thread, 8, %from;\n" +
           loads_ + "setp.eq.s32 %again, %left, 0;\n@%again bra DONE;\nLOOP:\n" + body_ +
           "add.s32 %left, %left, -1;\nsetp.ne.s32 %again, %left, 0;\n@%again bra LOOP;\nDONE:\nret;\n}\n";
  }

 private:
  // Returns a copy of the form whose result registers belong to this copy alone and are no sources.
  std::string copy_of(const std::string& form, int copy) {
    static const Pattern name("%([a-z]+)([0-9]+)");
    const std::size_t after_brace = form.find('}'), brace = form.find('{');
    const bool vector = brace != std::string::npos && brace < form.find(',');
    const std::size_t end_of_results = form.find(',', vector ? after_brace : 0);
    const std::string results = name.replace_each(form.substr(0, end_of_results), [&](const auto& groups) {
      return use(groups[1], "_to" + groups[2] + "_" + std::to_string(copy), "");
    });
    int source = 0;
    return results + name.replace_each(form.substr(end_of_results), [&](const auto& groups) {
      // The strides are odd and differ by source, so that only every 32nd copy has the same sources.
      const int number = (copy * (2 * source + 1) + 7 * source) % kRegisters;
      ++source;
      return use(groups[1], "_" + std::to_string(number), load_of(groups[1], number));
    });
  }

  // Declares a register and, if it is a source, loads it; returns its name.
  std::string use(const std::string& prefix, const std::string& suffix, const std::string& load) {
    const std::string own = "%" + prefix + suffix;
    if (!names_.insert(own).second) return own;
    const auto* of = std::find_if(std::begin(kClasses), std::end(kClasses),
                                  [&](const RegisterClass& each) { return each.prefix == prefix; });
    declared_ += fmt::format(".reg .{} {};\n", of->type, own);
    if (load.empty()) return own;
    if (*of->moved != 0) {
      loads_ += fmt::format("ld.global.{} {}, {};\n", of->moved, own, load);
    } else {
      loads_ +=
          fmt::format("ld.global.b32 %word, {};\nand.b32 %word, %word, 1;\nsetp.ne.s32 {}, %word, 0;\n", load, own);
    }
    return own;
  }

  static std::string load_of(const std::string& prefix, int number) {
    const int first = prefix == "p" ? kRegisters : 0;
    return fmt::format("[%from+{}]", (first + number) * kThreads * 8);
  }

  std::set<std::string> names_;
  std::string declared_, loads_, body_;
};

std::uint64_t next(std::uint64_t& state) {  // SplitMix64
  std::uint64_t z = state += 0x9e37'79b9'7f4a'7c15u;
  z = (z ^ z >> 30) * 0xbf58'476d'1ce4'e5b9u;
  z = (z ^ z >> 27) * 0x94d0'49bb'1331'11ebu;
  return z ^ z >> 31;
}

struct FloatShape {
  int bits, fraction_bits;
};

std::optional<FloatShape> shape_of(Type type) {
  switch (type) {
    case Type::f16:
    case Type::f16x2:
      return FloatShape{16, 10};
    case Type::bf16:
    case Type::bf16x2:
      return FloatShape{16, 7};
    case Type::f32:
      return FloatShape{32, 23};
    case Type::f64:
      return FloatShape{64, 52};
    default:
      return std::nullopt;
  }
}

// Returns a random value: near one in half of the cases; else subnormal, infinite, NaN or random bits.
std::uint64_t float_bits(const FloatShape& shape, std::uint64_t& state) {
  const std::uint64_t value = next(state), one = 1;
  const std::uint64_t fraction = value & ((one << shape.fraction_bits) - 1);
  const std::uint64_t most = (one << (shape.bits - 1 - shape.fraction_bits)) - 1, sign = value >> 63;
  std::uint64_t exponent = value >> 40 & most;
  switch (next(state) % 16) {
    case 0:
    case 1:
      exponent = 0;
      break;
    case 2:
      exponent = most;
      break;
    case 3:
      return sign << (shape.bits - 1) | most << shape.fraction_bits;
    case 4:
    case 5:
    case 6:
    case 7:
      break;
    default:
      exponent = most / 2 + (value >> 40) % 8 - 4;
  }
  return sign << (shape.bits - 1) | exponent << shape.fraction_bits | fraction;
}

// Returns 64 input bits for a form; narrower registers use a part of them.
std::uint64_t bits_for(Type type, std::uint64_t& state) {
  const auto shape = shape_of(type);
  if (!shape) return next(state) >> (next(state) % 2 * (next(state) % 64));
  std::uint64_t out = 0;
  for (int at = 0; at < 64; at += shape->bits) out |= float_bits(*shape, state) << at;
  return out;
}

// Returns the processor seconds of a launch, or an error.
Result<double> seconds_of(const ArithmeticForm& form, const std::string& text, int turns) {
  static const Machine machine = *load_machine("classroom");
  Gpu gpu(machine);
  ROOFWALK_TRY(ptx::Module module, ptx::parse(text, "kernel.cu"));
  ROOFWALK_TRY_STATUS(gpu.load(std::move(module), "kernel.cu", "kernel.cu"));
  constexpr std::size_t kWords = std::size_t{2} * kRegisters * kThreads;
  const int in = *gpu.memory().allocate("in", kWords * 8, 1, Memory::Region::buffers);
  std::uint64_t state = 1;
  for (std::size_t i = 0; i < kWords; ++i) {
    const std::uint64_t bits = bits_for(form.of, state);
    std::memcpy(gpu.memory().buffer(in).data + i * 8, &bits, 8);
  }
  std::uint64_t arguments[] = {gpu.memory().buffer(in).address, static_cast<std::uint64_t>(turns)};
  const auto processor_s = [] {
    timespec now{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
  };
  const double began_s = processor_s();
  // Runs without a trace: the replay of traces by the clock has a weight of its own.
  gpu.begin_plan({.work = 1'000'000'000, .seconds = 60, .traces = {.instructions = 0}});
  ROOFWALK_TRY(const bool ended,
               gpu.launch({.kernel = "k",
                           .grid = {1, 1, 1},
                           .block = {kThreads, 1, 1},
                           .arguments = {reinterpret_cast<const std::uint8_t*>(arguments), sizeof arguments},
                           .registers_per_thread = 64}));
  const RunRecord record = gpu.end_plan();
  if (!ended || record.fault) return Error{.message = record.fault ? record.fault->message : "it did not end"};
  return processor_s() - began_s;
}

// Returns the host's time per warp instruction: the time of a launch with kTurns turns, minus that of one with none.
Result<double> measured_ns(const ArithmeticForm& form) {
  const std::string text = Kernel(form.text).text();
  ROOFWALK_TRY(const double before_s, seconds_of(form, text, 0));
  ROOFWALK_TRY(const double s, seconds_of(form, text, kTurns));
  return 1e9 * (s - before_s) / static_cast<double>(kInstructions);
}

void print(const ArithmeticForm& form) {
  std::printf("%8.1f ns  %4llu units  %6.1f ns/unit  %s\n", form.ns, static_cast<unsigned long long>(form.weight),
              form.ns_per_unit(), form.text.c_str());
}

int measure_all(const std::string& wanted) {
  std::vector<ArithmeticForm> measured;
  for (ArithmeticForm form : all_forms()) {
    if (form.text.find(wanted) == std::string::npos) continue;
    for (int attempt = 0; attempt < kAttempts; ++attempt) {
      forget_subnormals();
      const auto ns = measured_ns(form);
      if (!ns) {
        std::fprintf(stderr, "%s: %s\n", form.text.c_str(), ns.error().text().c_str());
        return 1;
      }
      if (attempt == 0 && met_subnormals()) form.weight *= 1 + work::kSubnormal;
      form.ns = attempt == 0 ? *ns : std::min(form.ns, *ns);
      if (form.ns_per_unit() <= kMostNsPerUnit) break;
    }
    measured.push_back(form);
  }
  if (measured.empty()) return std::fprintf(stderr, "no form has %s\n", wanted.c_str()), 2;
  std::sort(measured.begin(), measured.end(),
            [](const ArithmeticForm& a, const ArithmeticForm& b) { return a.ns_per_unit() > b.ns_per_unit(); });
  const std::size_t shown = wanted.empty() ? std::min(kShown, measured.size()) : measured.size();
  std::for_each_n(measured.begin(), shown, print);
  std::printf("%zu forms\n", measured.size());
  if (measured.front().ns_per_unit() <= kMostNsPerUnit) return 0;
  std::fprintf(stderr, "a unit of the budget costs more than %g ns\n", kMostNsPerUnit);
  return 1;
}

}  // namespace
}  // namespace roofwalk::vgpu

int main(int argc, char** argv) { return roofwalk::vgpu::measure_all(argc > 1 ? argv[1] : ""); }
