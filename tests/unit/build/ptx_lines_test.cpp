#include "common/build/ptx_lines.h"

#include <gtest/gtest.h>

namespace roofwalk {
namespace {

constexpr std::string_view kPtx =
    ".version 9.0\n"                                             // 1
    ".weak .entry _Z1b(\n"                                       // 2, declared before its definition
    ");\n"                                                       // 3
    ".visible .entry _Z1a(\n"                                    // 4
    ")\n{\n"                                                     // 5, 6
    "\t.loc\t2 900 3\n"                                          // 7, in a header
    "\t.loc\t1 12 3\n"                                           // 8
    "\tadd.s32 %r1, %r1, 1;\n"                                   // 9
    "\t.loc\t2 77 3, function_name $L__i0, inlined_at 1 14 5\n"  // 10
    "\tret;\n}\n"                                                // 11, 12
    ".weak .entry _Z1b(\n"                                       // 13
    ")\n{\n"                                                     // 14, 15
    "\tnop;\n"                                                   // 16
    "\t.loc\t1 30 1\n"                                           // 17
    "\tret;\n}\n"                                                // 18, 19
    "\t.file\t2 \"/cuda/include/x.h\"\n"
    "\t.file\t1 \"/tmp/roofwalk-0/k/kernel.cu\"\n";

TEST(PtxLines, FollowLocAndWhereCodeWasInlined) {
  EXPECT_EQ(source_line_of_ptx_line(kPtx, 7), 0);
  EXPECT_EQ(source_line_of_ptx_line(kPtx, 9), 12);
  EXPECT_EQ(source_line_of_ptx_line(kPtx, 11), 14);
  EXPECT_EQ(source_line_of_ptx_line(kPtx, 16), 0);  // in another kernel, before its first .loc
  EXPECT_EQ(source_line_of_ptx_line(kPtx, 18), 30);
}

TEST(PtxLines, KernelsStartAtTheirFirstOwnLine) {
  EXPECT_EQ(source_line_of_kernel(kPtx, "_Z1a"), 12);
  EXPECT_EQ(source_line_of_kernel(kPtx, "_Z1b"), 30);
  EXPECT_EQ(source_line_of_kernel(kPtx, "_Z1"), 0);
}

TEST(PtxLines, OddTextHasNoLines) {
  for (const std::string_view ptx :
       {"", "\n\n", ".loc", ".loc 1", ".file", ".file 1 \"/kernel.cu\"\n.loc 99999999999999 1",
        ".file 1 \"/kernel.cu\"\n.loc 1 -5\n", ".loc 2 3 4, inlined_at"}) {
    EXPECT_EQ(source_line_of_ptx_line(ptx, 100), 0) << ptx;
    EXPECT_EQ(source_line_of_kernel(ptx, "k"), 0) << ptx;
  }
}

TEST(PtxLines, EachInstructionHasALineOfItsOwn) {
  const std::pair<const char*, const char*> cases[] = {
      {"", ""},
      {";", ";"},
      {"add x;\nadd y;\n", "add x;\nadd y;\n"},
      {"add x; add y;  add z;\n", "add x; \nadd y;  \nadd z;\n"},
      {"{ .reg .b32 t; L: add t; }\n", "{ .reg .b32 t; \nL: add t; \n}\n"},
      {"add x; // a; b\nadd y;\n", "add x; // a; b\nadd y;\n"},
      {"add /* a; b */ x; /* c */ add y;", "add /* a; b */ x; \n/* c */ add y;"},
      {"add x; /* a\nb */ add y;", "add x; \n/* a\nb */ add y;"},
      {".pragma \"a; b\"; add x;", ".pragma \"a; b\"; \nadd x;"},
      {"add\n x,\n y; add z;", "add\n x,\n y; \nadd z;"},
      {"add x;\t\r\nadd y;", "add x;\t\r\nadd y;"},
      {"add x; /* not closed", "add x; \n/* not closed"},
      {"add x; \"not closed", "add x; \n\"not closed"},
      {"add x; /*", "add x; \n/*"},
  };
  for (const auto& [ptx, lines] : cases) EXPECT_EQ(one_instruction_a_line(ptx), lines);
}

}  // namespace
}  // namespace roofwalk
