// The modifiers that arithmetic, conversions and comparisons take, exhaustively: over every combination of the words
// below, just those are accepted that stand in the golden files forms-*.ptx, each of which ptxas accepts whole.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <set>

#include "common/ptx/module.h"
#include "tests/unit/ptx/support.h"

namespace roofwalk::ptx {
namespace {

using testing::read_file;

const std::map<std::string, std::string> kRegisterOf = {
    {"pred", "%p"}, {"b8", "%h"},   {"b16", "%h"},    {"b32", "%r"},  {"b64", "%rd"},   {"u8", "%h"},   {"u16", "%us"},
    {"u32", "%u"},  {"u64", "%ud"}, {"s8", "%h"},     {"s16", "%ss"}, {"s32", "%s"},    {"s64", "%sd"}, {"f16", "%hf"},
    {"f32", "%f"},  {"f64", "%d"},  {"f16x2", "%hh"}, {"bf16", "%h"}, {"bf16x2", "%r"}, {"tf32", "%r"}};

using Visit = std::function<void(const std::string&)>;

std::string arithmetic_operands(const std::string& opcode, int sources, const std::string& mode,
                                const std::string& type) {
  const std::string& own = kRegisterOf.at(type);
  std::string result = own;
  std::vector<std::string> operands;
  for (int source = 0; source < sources; ++source) operands.push_back(fmt::format("{}{}", own, source % 4));
  if (mode == ".wide" && (type == "u16" || type == "s16" || type == "u32" || type == "s32")) {
    result = type == "u16" ? "%u" : type == "s16" ? "%s" : type == "u32" ? "%ud" : "%sd";
    if (opcode == "mad") operands[2] = fmt::format("{}2", result);
  }
  if (opcode == "clz" || opcode == "popc") result = "%r";
  if (opcode == "shl" || opcode == "shr") operands[1] = "%r2";
  if (opcode == "bfe") operands = {operands[0], "%r2", "%r3"};
  if (opcode == "bfi") operands = {operands[0], operands[1], "%r2", "%r3"};
  std::string text = fmt::format("{}1", result);
  for (const std::string& operand : operands) text += fmt::format(", {}", operand);
  return text;
}

void every_arithmetic_form(const Visit& visit) {
  for (const Opcode opcode : all_opcodes()) {
    const OpcodeInfo& row = info(opcode);
    const std::string name(row.mnemonic);
    if (row.form != Form::alu || name == "shf") continue;
    const bool multiplies = name == "mul" || name == "mad";
    for (const auto& [type, unused] : kRegisterOf) {
      for (const char* mode : {"", ".lo", ".hi", ".wide"}) {
        if (*mode != 0 && !multiplies) continue;
        for (const char* rounding : {"", ".rn", ".rz", ".rm", ".rp", ".rni", ".approx", ".full"}) {
          for (const char* ftz : {"", ".ftz"}) {
            for (const char* sat : {"", ".sat"}) {
              visit(fmt::format("{}{}{}{}{}.{} {};", name, mode, rounding, ftz, sat, type,
                                arithmetic_operands(name, row.sources, mode, type)));
            }
          }
        }
      }
    }
  }
}

void every_conversion(const Visit& visit) {
  for (const auto& [to, to_register] : kRegisterOf) {
    for (const auto& [from, from_register] : kRegisterOf) {
      for (const char* rounding : {"", ".rn", ".rz", ".rna", ".rni", ".rzi", ".rmi", ".approx"}) {
        for (const char* ftz : {"", ".ftz"}) {
          for (const char* sat : {"", ".sat"}) {
            const bool pair = to == "f16x2" || to == "bf16x2";
            visit(fmt::format("cvt{}{}{}.{}.{} {}1, {}2{};", rounding, ftz, sat, to, from, to_register, from_register,
                              pair ? fmt::format(", {}1", from_register) : ""));
          }
        }
      }
    }
  }
}

constexpr const char* kComparisons[] = {"eq", "ne",  "lt",  "le",  "gt",  "ge",  "lo",  "ls",  "hi",
                                        "hs", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"};

void every_comparison(const Visit& visit) {
  for (const auto& [type, own] : kRegisterOf) {
    for (const char* compare : kComparisons) {
      for (const char* ftz : {"", ".ftz"}) {
        visit(fmt::format("setp.{}{}.{} %p1, {}1, {}2;", compare, ftz, type, own, own));
      }
    }
  }
}

void every_set(const Visit& visit) {
  for (const auto& [to, to_register] : kRegisterOf) {
    for (const auto& [from, from_register] : kRegisterOf) {
      for (const char* compare : kComparisons) {
        visit(fmt::format("set.{}.{}.{} {}1, {}2, {}1;", compare, to, from, to_register, from_register, from_register));
      }
    }
  }
}

std::string in_braces(const std::string& name, int count) {
  std::string text;
  for (int r = 0; r < count; ++r) text += fmt::format("{}{}{}", r == 0 ? "{" : ", ", name, r);
  return text + "}";
}

void every_matrix_form(const Visit& visit) {
  for (const char* count : {"x1", "x2", "x3", "x4"}) {
    for (const char* trans : {"", ".trans"}) {
      for (const char* space : {".shared", ".shared::cta", ".global"}) {
        for (const int results : {1, 2, 4}) {
          visit(fmt::format("ldmatrix.sync.aligned.m8n8.{}{}{}.b16 {}, [%r8];", count, trans, space,
                            in_braces("%r", results)));
        }
      }
    }
  }
  for (const char* shape : {"m8n8k4", "m16n8k4", "m16n8k8", "m16n8k16", "m16n8k32"}) {
    for (const char* layout : {"row.col", "row.row", "col.col"}) {
      for (const char* factor : {"f16", "bf16", "tf32", "f32", "f64"}) {
        for (const int a : {1, 2, 4}) {
          for (const int b : {1, 2}) {
            visit(fmt::format("mma.sync.aligned.{}.{}.f32.{}.{}.f32 {}, {}, {}, {};", shape, layout, factor, factor,
                              in_braces("%f", 4), in_braces("%r", a), in_braces("%r", b), in_braces("%f", 4)));
          }
        }
      }
    }
  }
}

void every_async_form(const Visit& visit) {
  for (const char* cache : {".ca", ".cg", ".cs"}) {
    for (const char* to : {".shared", ".shared::cta", ".global"}) {
      for (const char* prefetch : {"", ".L2::64B", ".L2::128B", ".L2::256B", ".L2::512B"}) {
        for (const char* bytes : {"4", "8", "12", "16", "%r3"}) {
          for (const char* read : {"", ", 4", ", 16", ", %r2"}) {
            visit(fmt::format("cp.async{}{}.global{} [%r1], [%rd1], {}{};", cache, to, prefetch, bytes, read));
          }
        }
      }
    }
  }
  for (const char* rest : {"commit_group;", "commit_group 1;", "wait_group;", "wait_group 0;", "wait_group 3;",
                           "wait_group %r1;", "wait_all;", "wait_all 0;"}) {
    visit(fmt::format("cp.async.{}", rest));
  }
}

void check_forms(const std::string& file, const std::function<void(const Visit&)>& every_form) {
  const std::string golden = read_file(std::filesystem::path(ROOFWALK_PTX_GOLDEN) / "parse" / file);
  const std::size_t begin = golden.find("FORMS\n") + 6, end = golden.find("// END");
  ASSERT_NE(end, std::string::npos);
  std::set<std::string> wanted;
  std::istringstream lines{golden.substr(begin, end - begin)};
  for (std::string line; std::getline(lines, line);) wanted.insert(line);

  std::set<std::string> accepted;
  const std::string head = golden.substr(0, begin);
  every_form([&](const std::string& form) {
    if (parse(fmt::format("{}{}\nret; }}\n", head, form), "kernel.cu").ok()) accepted.insert(form);
  });
  EXPECT_GT(accepted.size(), 15u);
  for (const std::string& form : accepted) EXPECT_TRUE(wanted.contains(form)) << "accepted: " << form;
  for (const std::string& form : wanted) EXPECT_TRUE(accepted.contains(form)) << "refused: " << form;
}

TEST(Forms, OfArithmetic) { check_forms("forms-arithmetic.ptx", every_arithmetic_form); }
TEST(Forms, OfConversions) { check_forms("forms-convert.ptx", every_conversion); }
TEST(Forms, OfComparisons) { check_forms("forms-compare.ptx", every_comparison); }
TEST(Forms, OfSet) { check_forms("forms-set.ptx", every_set); }
TEST(Forms, OfMatrices) { check_forms("forms-matrix.ptx", every_matrix_form); }
TEST(Forms, OfAsyncCopies) { check_forms("forms-async.ptx", every_async_form); }

}  // namespace
}  // namespace roofwalk::ptx
