// Compares the cost of arithmetic by our rules with ptxas' code, form by form. The rules are used where a kernel's
// machine code is unknown or rejected; they must not make a kernel cheaper than it is on a chip.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include "common/base/pattern.h"
#include "common/base/subprocess.h"
#include "common/build/build.h"
#include "common/build/cubin.h"
#include "common/build/files.h"
#include "common/ptx/parser.h"
#include "common/specs/machine.h"
#include "common/vgpu/timing/instruction_cost.h"
#include "common/vgpu/timing/sass_map.h"

namespace roofwalk::vgpu {
namespace {

namespace fs = std::filesystem;

constexpr int kTimes = 4;  // repetitions of each form, with different sources

const fs::path kTree = ROOFWALK_TEST_SOURCE_DIR;

struct RegisterClass {
  const char* prefix;
  const char* type;   // type in declarations
  const char* moved;  // type in loads and stores
};

// The register classes, as declared in the files with all forms.
constexpr RegisterClass kClasses[] = {
    {"p", "pred", ""},    {"h", "b16", "b16"},  {"us", "u16", "u16"}, {"ss", "s16", "s16"},  {"hf", "f16", "b16"},
    {"r", "b32", "b32"},  {"u", "u32", "u32"},  {"s", "s32", "s32"},  {"f", "f32", "f32"},   {"rd", "b64", "b64"},
    {"ud", "u64", "u64"}, {"sd", "s64", "s64"}, {"d", "f64", "f64"},  {"hh", "f16x2", "b32"}};

const RegisterClass* class_of(const std::string& prefix) {
  const auto found = std::find_if(std::begin(kClasses), std::end(kClasses),
                                  [&](const RegisterClass& each) { return each.prefix == prefix; });
  return found == std::end(kClasses) ? nullptr : found;
}

// Whether the instruction is arithmetic: sources and results in registers, and no other effect.
bool is_arithmetic(const ptx::Instruction& in) {
  using ptx::Form;
  if (in.guard >= 0 || in.carry_in || in.carry_out) return false;
  if (is_subroutine(in)) return false;  // the subroutine's code has no line numbers
  // Computes an address: one machine instruction, unless its parts have just been loaded.
  if (in.mul == ptx::MulMode::wide && in.opcode == ptx::Opcode::Mad) return false;
  switch (ptx::info(in.opcode).form) {
    case Form::alu:
    case Form::convert:
    case Form::select:
    case Form::set:
    case Form::compare:
      return true;
    default:
      return false;
  }
}

// Returns the lines of the forms of arithmetic to compare, of all that the virtual GPU accepts.
std::set<std::string> forms() {
  const Pattern of_registers("^[a-z0-9_:.]+ %[a-z]+[0-9]+(, *(%[a-z]+[0-9]+|-?[0-9][0-9A-Za-z.]*)|[|]%p[0-9]+)*;$");
  std::set<std::string> out;
  for (const auto& entry : fs::directory_iterator(kTree / "tests/ptx/parse")) {
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
        if (line.starts_with("cvt.s16.s16 %") && line.find('d') != std::string::npos)
          continue;  // s16 in 64-bit registers is rare
        if (is_arithmetic(in) && of_registers.match(line) && std::count(line.begin(), line.end(), ';') == 1 &&
            line.back() == ';')
          out.insert(line);
      }
    }
  }
  return out;
}

// A module with a kernel for each form, and the line numbers of the forms.
class Kernels {
 public:
  explicit Kernels(const std::set<std::string>& forms, const std::string& chip) {
    line(".version 9.0");
    line(".target sm_" + chip);
    line(".address_size 64");
    line(".file 1 \"forms.cu\"");
    for (const std::string& form : forms) add(form);
  }

  std::string text;
  std::map<int, std::string> form_on;  // form of each line

 private:
  struct Named {
    std::string name;
    const RegisterClass* of;
    bool is_result;
  };

  void line(const std::string& what) {
    text += what + "\n";
    ++lines_;
  }

  void add(const std::string& form) {
    static const Pattern name("([|]?)%([a-z]+)([0-9]+)");
    std::vector<Named> named;
    for (const Pattern::Groups& groups : name.search_all(form)) {
      const bool is_result = named.empty() || !groups[1].empty();  // the second result of setp: "p|q"
      named.push_back({"%" + groups[2] + groups[3], class_of(groups[2]), is_result});
    }
    line(".visible .entry k" + std::to_string(kernels_++) + "(.param .u64 in, .param .u64 out) {");
    line(".reg .b64 %from, %to; .reg .b32 %word, %no;");
    for (int i = 0; i < kTimes; ++i) {
      std::set<std::string> declared;
      for (const Named& each : named) {
        const std::string own = each.name + "_" + std::to_string(i);
        if (declared.insert(own).second) line(std::string(".reg .") + each.of->type + " " + own + ";");
      }
    }
    line("ld.param.u64 %from, [in]; ld.param.u64 %to, [out];");
    line("ld.volatile.global.b32 %no, [%from];");
    int offset = 8;
    for (int i = 0; i < kTimes; ++i) {
      std::set<std::string> loaded;
      for (const Named& each : named) {
        const std::string own = each.name + "_" + std::to_string(i);
        if (each.is_result || !loaded.insert(own).second) continue;
        const RegisterClass& of = *each.of;
        const std::string place = "[%from+" + std::to_string(offset += 8) + "];";
        if (*of.moved != 0) {
          line(std::string("ld.volatile.global.") + of.moved + " " + own + ", " + place);
        } else {
          line("ld.volatile.global.b32 %word, " + place);
          line("setp.ne.s32 " + own + ", %word, %no;");
        }
      }
    }
    for (int i = 0; i < kTimes; ++i) {
      line(".loc 1 1 1");
      line(name.replace_all(form, "$1%$2$3_" + std::to_string(i)));
      form_on[lines_] = form;
    }
    for (int i = 0; i < kTimes; ++i) {
      for (const Named& each : named) {
        if (!each.is_result) continue;
        const std::string own = each.name + "_" + std::to_string(i);
        const RegisterClass& of = *each.of;
        const std::string place = "[%to+" + std::to_string(offset += 8) + "], ";
        line(".loc 1 2 1");
        if (*of.moved != 0) {
          line(std::string("st.volatile.global.") + of.moved + " " + place + own + ";");
        } else {
          line("selp.b32 %word, 1, 0, " + own + ";");
          line("st.volatile.global.b32 " + place + "%word;");
        }
      }
    }
    line("ret;");
    line("}");
  }

  int lines_ = 0, kernels_ = 0;
};

// Issue slots that instructions take on a scheduler: the slots of the busiest unit, but at least one per instruction.
class Slots {
 public:
  explicit Slots(const Machine& machine) : machine_(machine) {}
  void add(Unit unit, int count) {
    all_ += count;
    counts_[unit] += count;
  }
  double slots() const {
    double most = all_;
    for (const auto& [unit, count] : counts_) most = std::max(most, count * interval(unit));
    return most / kTimes;
  }
  // Returns the average of one instruction, such as "integer 2, special 1".
  std::string text() const {
    static const std::map<Unit, std::string> names = {
        {Unit::fp32, "fp32"}, {Unit::half, "half"},       {Unit::integer, "integer"}, {Unit::multiply, "multiply"},
        {Unit::fp64, "fp64"}, {Unit::special, "special"}, {Unit::tensor, "tensor"},   {Unit::constant, "constant"}};
    std::string out;
    for (const auto& [unit, count] : counts_)
      out += (out.empty() ? "" : ", ") + fmt::format("{} {:.3g}", names.at(unit), 1.0 * count / kTimes);
    return out.empty() ? "nothing" : out;
  }

 private:
  double interval(Unit unit) const {
    const auto of = [&](double lanes) { return 32 * machine_.schedulers_per_sm / lanes; };
    switch (unit) {
      case Unit::fp32:
        return of(machine_.fp32_lanes_per_sm);
      case Unit::half:
        return of(machine_.half2_lanes_per_sm);
      case Unit::integer:
        return of(machine_.int_lanes_per_sm);
      case Unit::multiply:
        return of(machine_.multiply_lanes_per_sm);
      case Unit::fp64:
        return of(machine_.fp64_lanes_per_sm);
      case Unit::special:
        return of(machine_.special_lanes_per_sm);
      default:
        return 1;
    }
  }

  const Machine& machine_;
  double all_ = 0;
  std::map<Unit, int> counts_;
};

// Compiles a module with ptxas. Returns the cubin, and the errors in `refused`.
std::string compiled_for(const Toolkit& toolkit, const std::string& chip, const std::string& text,
                         std::string& refused) {
  const fs::path folder = fs::path(ROOFWALK_TEST_BINARY_DIR) / "test-kernels";
  fs::create_directories(folder);
  const std::string name = (folder / ("rules-" + chip + "-" + std::to_string(getpid()))).string();
  EXPECT_TRUE(write_file(name + ".ptx", text));
  const auto run = run_command({.arguments = {(toolkit.root / "bin/ptxas").string(), "-c", "-arch=sm_" + chip,
                                              name + ".ptx", "-o", name + ".cubin"},
                                .working_directory = folder});
  const std::string cubin = read_file(name + ".cubin", 64 << 20).value_or("");
  fs::remove(name + ".ptx");
  fs::remove(name + ".cubin");
  refused = run.ok() ? run->output : run.error().text();
  return cubin;
}

class RuleCost : public testing::TestWithParam<const char*> {};

TEST_P(RuleCost, IsThatOfTheCodeWhichPtxasMakes) {
  const std::string chip = GetParam();
  const auto machine = load_machine("classroom");
  ASSERT_TRUE(machine.ok());
  const auto toolkit = find_toolkit(kTree);
  ASSERT_TRUE(toolkit.ok());
  // ptxas for sm_80 rejects some bfloat forms that exist only on sm_90; they are left out of a second attempt.
  std::set<std::string> taken = forms();
  std::optional<Kernels> kernels;
  std::string cubin;
  for (int attempt = 0; attempt < 2 && cubin.empty(); ++attempt) {
    kernels.emplace(taken, chip);
    std::string refused;
    cubin = compiled_for(*toolkit, chip, kernels->text, refused);
    const Pattern place("line ([0-9]+); error");
    for (const Pattern::Groups& groups : place.search_all(refused)) taken.erase(kernels->form_on[std::stoi(groups[1])]);
  }
  const auto module = ptx::parse(kernels->text, "forms.ptx");
  ASSERT_TRUE(module.ok()) << module.error().text();
  const auto code = read_cubin(cubin);
  ASSERT_TRUE(code.ok()) << code.error().text();

  std::map<std::string, Slots> made, ruled;
  for (const KernelResources& kernel : *code) {
    for (const MachineInstruction& each : kernel.code) {
      const auto form = kernels->form_on.find(static_cast<int>(each.ptx_line));
      if (form == kernels->form_on.end()) continue;
      const Operation info = operation_info(each.operation);
      if (info.unit == Unit::memory || info.unit == Unit::control || info.kind == Operation::Class::constant) continue;
      made.try_emplace(form->second, *machine).first->second.add(info.unit, 1);
    }
  }
  for (const ptx::Function& function : module->functions) {
    for (const ptx::Instruction& in : function.instructions) {
      const auto form = kernels->form_on.find(in.ptx_line);
      if (form == kernels->form_on.end()) continue;
      Slots& slots = ruled.try_emplace(form->second, *machine).first->second;
      std::vector<Cost> costs = expansion_of(in);
      if (costs.empty()) costs.push_back(cost_of(in));
      for (const Cost& cost : costs) {
        if (cost.unit != Unit::memory && cost.unit != Unit::control) slots.add(cost.unit, cost.issues);
      }
    }
  }
  for (const auto& [form, by_rules] : ruled) {
    const Slots& by_code = made.try_emplace(form, *machine).first->second;
    const std::string both = fmt::format("{}: {}; by the rules {}", form, by_code.text(), by_rules.text());
    // By the rules, a sign change or taking half of a register is free, because the instruction that uses the result
    // can do it. Here the result is stored, so ptxas must compute it.
    constexpr double kVanishes = 2;
    // The rules may also count more than the code: ptxas moves sign changes to the storing instruction, and for sm_90,
    // unlike for sm_80, it converts some integers without calling a function.
    constexpr double kOfAFunction = 8;
    const bool vanishes = by_rules.slots() == 0 && by_code.slots() <= kVanishes;
    EXPECT_TRUE(vanishes || by_rules.slots() >= 0.75 * by_code.slots()) << both;
    EXPECT_LE(by_rules.slots(), 2 * by_code.slots() + kOfAFunction) << both;
  }
  EXPECT_GT(ruled.size(), 500u);
}

INSTANTIATE_TEST_SUITE_P(On, RuleCost, testing::Values("80", "90"),
                         [](const auto& chip) { return std::string("sm_") + chip.param; });

}  // namespace
}  // namespace roofwalk::vgpu
