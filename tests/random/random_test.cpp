// Compares the virtual GPU with the reference on random programs. Also tests the test: a wrong instruction is found,
// and every row of the opcode table is exercised.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "common/ptx/module.h"
#include "tests/random/compare.h"

namespace roofwalk::random {
namespace {

const Machine& machine() {
  static const Machine out = small_machine();
  return out;
}

const FormChoice& forms() {
  static const FormChoice out = accepted(all_forms(), machine());
  return out;
}

// Opcodes that random programs do not contain, with the reason and, for most, where they are tested instead.
const std::map<std::string, std::string> kExempt = {
    {"createpolicy", "gives a value that only cache hints take"},
    {"trap", "ends a run with a fault; tests/unit/vgpu/faults_test.cpp"},
    {"wmma.load", "its layout of fragments is the machine's own; tests/unit/vgpu/exec/wmma_test.cpp"},
    {"wmma.mma", "as wmma.load"},
    {"wmma.store", "as wmma.load"},
};

std::string mnemonic_of(const Instruction& in) {
  const std::size_t first = in.text.find('.');
  return in.text.substr(0, in.what == Do::branch_by_index ? in.text.find('.', first + 1) : first);
}

TEST(RandomPrograms, UseEveryRowOfTheOpcodeTable) {
  std::set<std::string> seen;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    for (const Line& line : flatten(generate(seed, forms())).lines) {
      if (line.in_text()) seen.insert(mnemonic_of(line.code));
    }
  }
  std::string missing;
  int arithmetic = 0, without_form = 0;
  for (const ptx::Opcode opcode : ptx::all_opcodes()) {
    const std::string mnemonic(ptx::info(opcode).mnemonic);
    if (ptx::info(opcode).form == ptx::Form::alu) {
      ++arithmetic;
      if (seen.contains(mnemonic)) continue;
      ++without_form;
      missing += " " + mnemonic;
      continue;
    }
    EXPECT_NE(seen.contains(mnemonic), kExempt.contains(mnemonic))
        << "`" << mnemonic
        << "` must be made by generate_*.cpp, be a row of tests/random/*_forms.cpp, or be exempt here";
  }
  // A few rows may be without a form until someone writes one: all arithmetic takes the same path through the virtual
  // GPU, and tests/isa has a test for each row.
  EXPECT_LE(without_form, arithmetic / 20) << "rows of tests/random/*_forms.cpp are missing:" << missing;
}

// For each computing row with a form, every type that the row allows must have a form that the virtual GPU accepts.
TEST(RandomPrograms, UseEveryTypeOfAComputingRow) {
  std::set<std::string> accepted, with_form;
  for (const Form& form : forms().all()) {
    with_form.insert(form.mnemonic);
    accepted.insert(form.mnemonic + form.text.substr(form.text.rfind('.')));
  }
  for (const ptx::Opcode opcode : ptx::all_opcodes()) {
    const ptx::OpcodeInfo& row = ptx::info(opcode);
    if (row.form != ptx::Form::alu || !with_form.contains(std::string(row.mnemonic))) continue;
    for (int t = 0; t <= static_cast<int>(ptx::Type::f64); ++t) {
      const auto type = static_cast<ptx::Type>(t);
      if (type == ptx::Type::none || (row.types & ptx::bit(type)) == 0) continue;
      const std::string name = std::string(row.mnemonic) + std::string(ptx::type_name(type));
      EXPECT_TRUE(accepted.contains(name)) << name << " has no form in tests/random";
    }
  }
}

TEST(RandomPrograms, MatchTheReference) {
  constexpr std::uint64_t kPrograms = 150, kMostTooLong = 3;
  std::uint64_t too_long = 0;
  for (std::uint64_t seed = 1; seed <= kPrograms; ++seed) {
    const Program program = generate(seed, forms());
    const Verdict verdict = compare(program, machine());
    if (verdict.what == Verdict::What::invalid && verdict.words == "runs too long") {
      ++too_long;
      continue;
    }
    ASSERT_EQ(verdict.what, Verdict::What::same) << verdict.words << "\n"
                                                 << report(minimized(program, machine()), machine());
  }
  EXPECT_LE(too_long, kMostTooLong);
}

// The reference is wrong in one instruction: some program must differ, and minimizing must keep that instruction.
TEST(RandomPrograms, AreShrunkToTheInstructionThatDiffers) {
  std::vector<Form> wrong = forms().all();
  for (Form& form : wrong) {
    if (form.text != "prmt.b32") continue;
    form.apply = [](const std::uint64_t*, std::uint64_t* results) { results[0] = 1; };
  }
  const FormChoice choice(std::move(wrong), {});
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const Program program = generate(seed, choice);
    if (compare(program, machine()).what != Verdict::What::differs) continue;
    const Program small = minimized(program, machine());
    EXPECT_LT(instruction_count(small), 45u) << report(small, machine());
    EXPECT_LT(instruction_count(small), instruction_count(program) / 3);
    const std::string words = report(small, machine());
    EXPECT_NE(words.find("prmt.b32"), std::string::npos) << words;
    EXPECT_NE(words.find("--seed " + std::to_string(seed)), std::string::npos) << words;
    return;
  }
  FAIL() << "no program noticed";
}

}  // namespace
}  // namespace roofwalk::random
