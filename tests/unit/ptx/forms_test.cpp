// Tests all combinations of modifiers of arithmetic, conversions and comparisons: of all the forms generated below, the
// parser must accept exactly those listed in the golden files forms-*.ptx, which ptxas accepts, too.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
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
  if (opcode == "clz" || opcode == "popc" || opcode == "bfind") result = "%r";
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
    // every_integer_form() visits these: their operands have another shape.
    const bool of_other_shape = name == "shf" || name == "lop3" || name == "dp4a" || name == "dp2a" || name == "bmsk" ||
                                name == "szext" || name.starts_with("vabsdiff");
    if (row.form != Form::alu || of_other_shape) continue;
    const bool multiplies = name == "mul" || name == "mad" || name == "mul24" || name == "mad24";
    for (const auto& [type, unused] : kRegisterOf) {
      for (const char* mode : {"", ".lo", ".hi", ".wide"}) {
        if (*mode != 0 && !multiplies) continue;
        for (const char* rounding : {"", ".rn", ".rz", ".rm", ".rp", ".rni", ".approx", ".full"}) {
          for (const char* ftz : {"", ".ftz"}) {
            for (const char* rest : {"", ".sat", ".relu", ".NaN"}) {
              visit(fmt::format("{}{}{}{}{}.{} {};", name, mode, rounding, ftz, rest, type,
                                arithmetic_operands(name, row.operands.source_count(), mode, type)));
            }
          }
        }
      }
    }
  }
}

void every_integer_form(const Visit& visit) {
  for (const char* mode : {"", ".f4e", ".b4e", ".rc8", ".ecl", ".ecr", ".rc16", ".lo"}) {
    visit(fmt::format("prmt.b32{} %r1, %r2, %r3, %r4;", mode));
  }
  for (const char* a : {"u32", "s32", "b32"}) {
    for (const char* b : {"u32", "s32", "b32"}) {
      for (const char* name : {"dp4a", "dp2a", "dp2a.lo", "dp2a.hi", "dp4a.lo"}) {
        visit(fmt::format("{}.{}.{} %r1, %r2, %r3, %r4;", name, a, b));
      }
    }
  }
  for (const char* name : {"vabsdiff2", "vabsdiff4"}) {
    for (const char* types : {"", ".u32", ".u32.u32", ".u32.u32.u32", ".s32.u32.u32", ".u32.s32.u32", ".u32.u32.s32"}) {
      for (const char* rest : {"", ".add", ".sat"}) visit(fmt::format("{}{}{} %r1, %r2, %r3, %r4;", name, types, rest));
    }
  }
  for (const char* type : {"u16", "u32", "s32", "u64", "s64", "b32"}) {
    const std::string source = type[1] == '6' ? "%rd2" : type[1] == '1' ? "%h2" : "%r2";
    for (const char* shift : {"", ".shiftamt"}) visit(fmt::format("bfind{}.{} %r1, {};", shift, type, source));
  }
  for (const char* operands :
       {"%r2, 3, -1", "%r2, %u3, %s4", "%r2, %r3, %r4", "0xaaaaaaaa, %s3, 1", "%f1, 3, 1", "%r2, 3"}) {
    visit(fmt::format("fns.b32 %r1, {};", operands));
  }
  for (const char* direction : {".l", ".r"}) {
    for (const char* mode : {".wrap", ".clamp", ""}) {
      visit(fmt::format("shf{}{}.b32 %r1, %r2, %r3, %r4;", direction, mode));
    }
  }
  for (const char* mode : {".wrap", ".clamp", ""}) {
    visit(fmt::format("bmsk{}.b32 %r1, %r2, 7;", mode));
    for (const char* type : {"u32", "s32", "b32", "u16", "s64"}) {
      visit(fmt::format("szext{}.{} %r1, %r2, %r3;", mode, type));
    }
  }
  for (const char* name : {"add", "addc", "sub", "subc", "mad", "mad.lo", "mad.hi", "mad.wide", "madc.lo", "madc.hi"}) {
    const std::string third = name[0] == 'm' ? ", 5" : "";
    for (const char* type : {"u16", "u32", "s32", "u64", "s64", "b32", "f32"}) {
      const std::string& own = kRegisterOf.at(type);
      for (const char* sets : {"", ".cc"}) {
        const std::string without = std::string(name).find('c') == std::string::npos ? "" : sets;
        visit(fmt::format("{}{}.{} {}1, {}2, {}3{};", name, *sets == 0 ? without : sets, type, own, own, own, third));
      }
    }
  }
  for (const char* table : {"0", "255", "256", "%r5"}) visit(fmt::format("lop3.b32 %r1, %r2, %r3, %r4, {};", table));
}

void every_conversion(const Visit& visit) {
  for (const auto& [to, to_register] : kRegisterOf) {
    for (const auto& [from, from_register] : kRegisterOf) {
      for (const char* rounding : {"", ".rn", ".rz", ".rna", ".rni", ".rzi", ".rmi", ".approx"}) {
        for (const char* ftz : {"", ".ftz"}) {
          for (const char* sat : {"", ".sat", ".relu", ".satfinite", ".relu.satfinite"}) {
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

void every_number_test(const Visit& visit) {
  for (const auto& [type, own] : kRegisterOf) {
    for (const char* test : {"finite", "infinite", "number", "notanumber", "normal", "subnormal", "nan", "ftz.normal"})
      visit(fmt::format("testp.{}.{} %p1, {}1;", test, type, own));
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
            visit(fmt::format("mma.sync.aligned.{}.{}.f16.{}.{}.f16 {}, {}, {}, {};", shape, layout, factor, factor,
                              in_braces("%r", 2), in_braces("%r", a), in_braces("%r", b), in_braces("%r", 2)));
          }
        }
        visit(fmt::format("mma.sync.aligned.{}.{}.f64.{}.{}.f64 {}, {{%d2}}, {{%d3}}, {};", shape, layout, factor,
                          factor, in_braces("%d", 2), in_braces("%d", 2)));
      }
    }
  }
  for (const char* shape : {"m8n8k4", "m8n8k16", "m16n8k16", "m16n8k32", "m16n8k64"}) {
    for (const char* clamp : {"", ".satfinite"}) {
      for (const char* first : {"s8", "u8", "s4"}) {
        for (const char* second : {"s8", "u8", "b32"}) {
          for (const int a : {1, 2, 4}) {
            const int sums = a == 1 ? 2 : 4, b = a == 4 ? 2 : 1;
            visit(fmt::format("mma.sync.aligned.{}.row.col{}.s32.{}.{}.s32 {}, {}, {}, {};", shape, clamp, first,
                              second, in_braces("%r", sums), in_braces("%r", a), in_braces("%r", b),
                              in_braces("%r", sums)));
          }
        }
      }
    }
  }
}

struct FragmentType {
  const char* type;
  const char* reg;
};
constexpr FragmentType kFragmentTypes[] = {{"f16", "%r"}, {"bf16", "%r"}, {"tf32", "%r"}, {"f32", "%f"},
                                           {"f64", "%d"}, {"s8", "%r"},   {"u8", "%r"},   {"s32", "%r"}};
constexpr const char* kFragmentShapes[] = {"m8n8k4", "m16n16k8", "m16n16k16", "m8n32k16", "m32n8k16", "m8n8k32"};

void every_fragment_form(const Visit& visit) {
  for (const char* shape : kFragmentShapes) {
    for (const auto& [type, reg] : kFragmentTypes) {
      for (const char* use : {"load.a", "load.b", "load.c", "load.d", "store.d", "store.c"}) {
        for (const char* rest : {".row", ".col"}) {
          for (const char* space : {"", ".global", ".shared", ".local"}) {
            for (const int count : {1, 2, 4, 8}) {
              const std::string text = fmt::format("wmma.{}.sync.aligned{}.{}{}.{}", use, rest, shape, space, type);
              const std::string held = in_braces(reg, count), at = *space == 0 || space[1] == 'g' ? "[%rd1]" : "[%r8]";
              const bool store = use[0] == 's';
              visit(fmt::format("{} {}, {};", text, store ? at : held, store ? held : at));
              if (count == 4) continue;
              visit(fmt::format("{} {}, {}, %r3;", text, store ? at : held, store ? held : at));
            }
          }
        }
      }
    }
  }
}

void every_fragment_product(const Visit& visit) {
  const auto held = [](const FragmentType& of, int floats) {
    return in_braces(of.reg, std::string_view(of.type) == "f16" ? 4 : floats);
  };
  for (const char* shape : kFragmentShapes) {
    for (const FragmentType& sum : kFragmentTypes) {
      for (const FragmentType& result : kFragmentTypes) {
        if (std::string_view(sum.reg) != result.reg && std::string_view(sum.type) != "f16") continue;
        for (const char* factors : {"", ".f16.f16", ".bf16.bf16", ".tf32.tf32", ".s8.s8", ".s8.u8", ".f64.f64"}) {
          const char* reg = std::string_view(factors) == ".f64.f64" ? "%d" : "%r";
          for (const char* rest : {"", ".satfinite", ".rn"}) {
            for (const auto& [a, b] : {std::pair{8, 8}, {4, 4}, {2, 2}, {1, 1}, {8, 2}, {4, 1}, {1, 4}}) {
              visit(fmt::format("wmma.mma.sync.aligned.row.col.{}.{}{}.{}{} {}, {}, {}, {};", shape, result.type,
                                factors, sum.type, rest, held(result, a == 1 && b == 1 ? 2 : 8), in_braces(reg, a),
                                in_braces(reg, b), held(sum, a == 1 && b == 1 ? 2 : 8)));
            }
          }
        }
      }
    }
  }
}

void every_atomic_form(const Visit& visit) {
  for (const char* name : {"atom", "red"}) {
    for (const char* space : {"", ".global", ".shared", ".local"}) {
      for (const char* op : {"add", "min", "max", "and", "or", "xor", "inc", "dec", "exch", "cas"}) {
        for (const auto& [type, reg] : kRegisterOf) {
          for (const char* rest : {"", ".noftz", ".L2::cache_hint", ".noftz.L2::cache_hint"}) {
            const bool reduction = *name == 'r', cas = std::string_view(op) == "cas";
            const bool hint = std::string_view(rest).find("L2") != std::string_view::npos;
            visit(fmt::format("{}{}.{}{}.{} {}{}, {}2{}{};", name, space, op, rest, type,
                              reduction ? "" : fmt::format("{}1, ", reg),
                              space[0] != 0 && space[1] != 'g' ? "[%r1]" : "[%rd1]", reg,
                              cas ? fmt::format(", {}3", reg) : "", hint ? ", %rd2" : ""));
          }
        }
      }
    }
  }
}

// Visits the order, its scope, the space and the operation in every order of these words.
void every_memory_order(const Visit& visit) {
  for (const char* name : {"ld", "st", "red", "atom"}) {
    const bool updates = *name == 'r' || *name == 'a';
    const std::string operands = *name == 'l' ? "%r1, [%rd1]" : *name == 'a' ? "%r1, [%rd1], %r2" : "[%rd1], %r2";
    for (const char* order : {"", ".weak", ".volatile", ".relaxed", ".acquire", ".release", ".acq_rel"}) {
      for (const char* scope : {"", ".cta", ".gpu"}) {
        for (const char* space : {"", ".global"}) {
          std::vector<std::string> words{order, scope, space, updates ? ".add" : ""};
          std::ranges::sort(words);
          do {
            visit(fmt::format("{}{}{}{}{}.{} {};", name, words[0], words[1], words[2], words[3],
                              updates ? "s32" : "b32", operands));
          } while (std::ranges::next_permutation(words).found);
        }
      }
    }
  }
  for (const char* form :
       {"ld.global.v2.gpu.relaxed.b32 {%r1, %r2}, [%rd1];", "ld.global.b32.gpu.acquire %r1, [%rd1];",
        "ld.global.L1::no_allocate.relaxed.gpu.b32 %r1, [%rd1];", "ld.global.ca.relaxed.gpu.b32 %r1, [%rd1];",
        "ld.global.nc.relaxed.gpu.b32 %r1, [%rd1];", "ld.relaxed.gpu.global.relaxed.gpu.b32 %r1, [%rd1];",
        "ld.local.volatile.b32 %r1, [%r1];", "ld.shared.volatile.b32 %r1, [%r1];",
        "st.shared.release.cta.b32 [%r1], %r2;", "red.global.add.s32.release.gpu [%rd1], %r2;",
        "atom.global.cas.relaxed.gpu.b32 %r1, [%rd1], %r2, %r3;"})
    visit(form);
}

// Visits modifiers in every order.
void every_order(const Visit& visit) {
  struct Form {
    const char* opcode;
    std::vector<std::string> words;
    const char* operands;
  };
  const Form forms[] = {
      {"vote", {".sync", ".ballot", ".b32"}, "%r1, %p1, -1"},
      {"vote", {".sync", ".all", ".pred"}, "%p1, %p2, -1"},
      {"shfl", {".sync", ".idx", ".b32"}, "%r1, %r2, 1, 31, -1"},
      {"match", {".sync", ".any", ".b32"}, "%r1, %r2, -1"},
      {"redux", {".sync", ".add", ".s32"}, "%s1, %s2, -1"},
      {"ldmatrix", {".sync", ".aligned", ".m8n8", ".x1", ".trans"}, ".shared.b16 {%r1}, [%r2]"},
      {"mma",
       {".sync", ".aligned", ".m16n8k8", ".row", ".col"},
       ".f32.bf16.bf16.f32 {%f1, %f2, %f3, %f4}, {%r1, %r2}, {%r3}, {%f5, %f6, %f7, %f8}"},
      {"cp.async", {".ca", ".shared", ".global"}, "[%r1], [%rd1], 4"},
      {"mul", {".rn", ".ftz", ".sat", ".f32"}, "%f1, %f2, %f3"},
      {"cvt", {".rn", ".f32", ".s32"}, "%f1, %s1"},
      {"setp", {".lt", ".and", ".s32"}, "%p1, %s1, %s2, %p2"},
      {"barrier", {".sync", ".aligned"}, "0"},
      {"bfind", {".shiftamt", ".u32"}, "%r1, %r2"},
      {"fence", {".acq_rel", ".gpu"}, ""},
  };
  for (Form form : forms) {
    std::ranges::sort(form.words);
    do {
      const std::string words = fmt::format("{}", fmt::join(form.words, ""));
      visit(fmt::format("{}{}{}{};", form.opcode, words, *form.operands == '.' || *form.operands == 0 ? "" : " ",
                        form.operands));
    } while (std::ranges::next_permutation(form.words).found);
  }
}

void every_cache_hint(const Visit& visit) {
  for (const char* first : {"L2::evict_last", "L2::evict_normal", "L2::evict_first", "L2::evict_unchanged"}) {
    for (const char* second : {"", ".L2::evict_first", ".L2::evict_unchanged", ".L2::evict_last"}) {
      for (const char* share : {"", ", 0f3F000000", ", 1"}) {
        visit(fmt::format("createpolicy.fractional.{}{}.b64 %rd1{};", first, second, share));
      }
    }
  }
  for (const char* space : {".global", ".local", ".shared", ""}) {
    for (const char* level : {".L1", ".L2", ".L2::evict_last", ".L2::evict_normal", ".L3"}) {
      visit(fmt::format("prefetch{}{} [%rd1];", space, level));
    }
    for (const char* cache : {"", ".L1::evict_last", ".L1::no_allocate", ".ca"}) {
      for (const char* size : {"", ".L2::128B"}) {
        visit(fmt::format("ld{}{}.L2::cache_hint{}.f32 %f1, [%rd1], %rd2;", space, cache, size));
      }
      visit(fmt::format("st{}{}.L2::cache_hint.f32 [%rd1], %f1, %rd2;", space, cache));
    }
  }
  visit("ld.global.nc.L2::cache_hint.v4.f32 {%f1, %f2, %f3, %f4}, [%rd1], %rd2;");
  visit("ld.global.L2::cache_hint.f32 %f1, [%rd1];");
  visit("cp.async.cg.shared.global.L2::cache_hint [%r1], [%rd1], 16, %rd2;");
  visit("cp.async.cg.shared.global.L2::cache_hint.L2::128B [%r1], [%rd1], 16, %r2, %rd2;");
}

void every_async_form(const Visit& visit) {
  for (const char* cache : {".ca", ".cg", ".cs"}) {
    for (const char* to : {".shared", ".shared::cta", ".global"}) {
      for (const char* prefetch : {"", ".L2::64B", ".L2::128B", ".L2::256B", ".L2::512B"}) {
        for (const char* bytes : {"4", "8", "12", "16", "%r3"}) {
          for (const char* read : {"", ", 4", ", 16", ", %r2", ", %p1"}) {
            visit(fmt::format("cp.async{}{}.global{} [%r1], [%rd1], {}{};", cache, to, prefetch, bytes, read));
          }
        }
      }
    }
  }
  for (const char* operands :
       {"16, !%p1", "16, 1, %p1", "16, %r2, %p1", "16, %p1, 16", "%p1", "16, %p1, %p2", "16, %h1", "16, %rd2"})
    visit(fmt::format("cp.async.cg.shared.global [%r1], [%rd1], {};", operands));
  visit("cp.async.cg.shared.global.L2::cache_hint [%r1], [%rd1], 16, %p1, %rd2;");
  visit("cp.async.cg.shared.global.L2::cache_hint [%r1], [%rd1], 16, %p1;");
  for (const char* rest : {"commit_group;", "commit_group 1;", "wait_group;", "wait_group 0;", "wait_group 3;",
                           "wait_group %r1;", "wait_all;", "wait_all 0;"}) {
    visit(fmt::format("cp.async.{}", rest));
  }
}

// Expects the parser to accept exactly the forms that the file lists. With ROOFWALK_UPDATE_GOLDEN=1, rewrites the list
// instead; ptxas must then check it (golden_test.cpp).
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
    if (testing::parse_whole(fmt::format("{}{}\nret; }}\n", head, form), "kernel.cu").ok()) accepted.insert(form);
  });
  EXPECT_GT(accepted.size(), 15u);
  if (std::getenv("ROOFWALK_UPDATE_GOLDEN") != nullptr) {
    std::ofstream out(std::filesystem::path(ROOFWALK_PTX_GOLDEN) / "parse" / file, std::ios::binary);
    out << head;
    for (const std::string& form : accepted) out << form << '\n';
    out << golden.substr(end);
    return;
  }
  for (const std::string& form : accepted) EXPECT_TRUE(wanted.contains(form)) << "accepted: " << form;
  for (const std::string& form : wanted) EXPECT_TRUE(accepted.contains(form)) << "refused: " << form;
}

TEST(Forms, OfArithmetic) { check_forms("forms-arithmetic.ptx", every_arithmetic_form); }
TEST(Forms, OfConversions) { check_forms("forms-convert.ptx", every_conversion); }
TEST(Forms, OfComparisons) {
  check_forms("forms-compare.ptx", [](const Visit& visit) {
    every_comparison(visit);
    every_number_test(visit);
  });
}
TEST(Forms, OfSet) { check_forms("forms-set.ptx", every_set); }
TEST(Forms, OfIntegers) { check_forms("forms-integer.ptx", every_integer_form); }
TEST(Forms, OfFragments) { check_forms("forms-fragment.ptx", every_fragment_form); }
TEST(Forms, OfFragmentProducts) { check_forms("forms-fragment-product.ptx", every_fragment_product); }
TEST(Forms, OfAtomics) { check_forms("forms-atomic.ptx", every_atomic_form); }
TEST(Forms, OfMemoryOrders) { check_forms("forms-memory-order.ptx", every_memory_order); }
TEST(Forms, InAnyOrder) { check_forms("forms-order.ptx", every_order); }
TEST(Forms, OfCacheHints) { check_forms("forms-cache-hint.ptx", every_cache_hint); }
TEST(Forms, OfMatrices) { check_forms("forms-matrix.ptx", every_matrix_form); }
TEST(Forms, OfAsyncCopies) { check_forms("forms-async.ptx", every_async_form); }

}  // namespace
}  // namespace roofwalk::ptx
