// Recorded compiler output, and the diagnostics made from it.
#include "common/build/diagnostics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>

namespace roofwalk {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr const char* kOneInclude = "#include <roofwalk.cuh>\n";

Error nvcc(const std::string& output, int exit_code = 1, const char* source = kOneInclude) {
  return explain_nvcc({.exit_code = exit_code, .output = output}, "my/x.cu", source, 60);
}

TEST(NvccErrors, AreCutToTheLearnersLines) {
  const Error error = nvcc(
      "kernel.cu(4): warning #68-D: integer conversion resulted in a change of sign\n"
      "  unsigned u = -1;\n"
      "kernel.cu(5): error: identifier \"q\" is undefined\n"
      "  __attribute__((global)) void add() { q; }\n"
      "                                       ^\n\n"
      "kernel.cu(15): error #20-D: too few arguments in function call\n\n"
      "2 errors detected in the compilation of \"kernel.cu\".\n");
  EXPECT_EQ(error.text(), "my/x.cu:5: identifier \"q\" is undefined\n  my/x.cu:15: too few arguments in function call");
}

TEST(NvccErrors, ThePreprocessorsFormIsReadToo) {
  EXPECT_EQ(nvcc("kernel.cu:1:10: fatal error: nothere.h: No such file or directory\n    1 | #include\n").text(),
            "my/x.cu:1: nothere.h: No such file or directory (a kernel file stands alone; only headers of the CUDA "
            "toolkit are there)");
}

TEST(NvccErrors, TheTimeOfCompilingIsNamedOnceALine) {
  const std::string lines =
      "kernel.cu(4): error: identifier \"roofwalk_time_of_compiling\" is undefined\n"
      "  c[0] = roofwalk_time_of_compiling[0] + roofwalk_time_of_compiling[3];\n         ^\n\n";
  EXPECT_EQ(nvcc(lines + lines).text(),
            "my/x.cu:4: reads the time of compilation (leave __DATE__, __TIME__ and __TIMESTAMP__ out: what a kernel "
            "does may not depend on when it is compiled)");
  EXPECT_THAT(nvcc("kernel.cu(4): error: expected a \";\"\n  s = \"a\" roofwalk_time_of_compiling;\n").advice,
              HasSubstr("leave __DATE__"));
}

TEST(NvccErrors, NoMoreThanSixAreShown) {
  std::string output;
  for (int i = 1; i <= 9; ++i) output += "kernel.cu(" + std::to_string(i) + "): error: e" + std::to_string(i) + "\n";
  const Error error = nvcc(output);
  EXPECT_EQ(error.line, 1);
  EXPECT_THAT(error.message, HasSubstr("x.cu:6: e6\n  and 3 more"));
  EXPECT_THAT(error.message, Not(HasSubstr("e7")));
}

TEST(NvccErrors, InHeadersPointAtTheLearnersLine) {
  EXPECT_EQ(nvcc("include/roofwalk.cuh(26): error: expression must have arithmetic type\n"
                 "    return count / size;\n"
                 "          detected during instantiation of \"auto ceil_div(Count, Size)\" at line 3 of kernel.cu\n")
                .text(),
            "my/x.cu:3: expression must have arithmetic type (in roofwalk.cuh)");
  EXPECT_EQ(nvcc("In file included from /usr/include/c++/12/a:3,\n                 from kernel.cu:2:\n"
                 "/usr/include/c++/12/b:7:2: error: #error no\n")
                .text(),
            "my/x.cu:2: #error no (in b)");
  EXPECT_EQ(nvcc("/secret/folder/b.h(7): error: no\n").text(), "my/x.cu: no (in b.h, line 7)");
}

TEST(NvccErrors, HostCallsInSolveAreExplainedInOneSentence) {
  const auto call = [](const std::string& callee, const std::string& kind, const std::string& caller) {
    return nvcc("kernel.cu(8): error: calling a __host__ function(\"" + callee + "\") from a " + kind + " function(\"" +
                caller + "\") is not allowed\n\nkernel.cu(8): error: identifier \"" + callee +
                "\" is undefined in device code\n");
  };
  const Error vector =
      call("std::vector<float, ::std::allocator<float> > ::vector(unsigned long)", "__global__", "solve");
  EXPECT_EQ(vector.text(),
            "my/x.cu:8: SOLVE calls std::vector, which exists on the host only (SOLVE runs as device code: use "
            "scratch<T>(count) for temporary memory)");
  EXPECT_THAT(call("cudaError ::cudaMallocManaged<float> (T1 **, unsigned long)", "__global__", "solve").text(),
              testing::AllOf(HasSubstr("SOLVE calls cudaMallocManaged,"), HasSubstr("scratch<T>(count)")));
  EXPECT_THAT(call("cudaStreamCreate", "__global__", "solve").advice, HasSubstr("leave streams"));
  EXPECT_THAT(call("std::basic_ostream<char>::operator <<(int)", "__global__", "solve").advice,
              HasSubstr("prints nothing"));
  EXPECT_THAT(call("helper(int)", "__global__", "solve").advice, HasSubstr("__host__ __device__"));
  EXPECT_EQ(call("helper(int)", "__global__", "add(const float *)").text(),
            "my/x.cu:8: add calls helper, which exists on the host only (kernels run on the GPU and cannot call host "
            "functions; mark a function of your own with __device__)");
}

// nvcc recommends a flag, which no learner can pass.
TEST(NvccErrors, TheMarkOfALambdaIsToBeLeftOut) {
  const Error error =
      nvcc("kernel.cu(3): error: __host__ or __device__ annotation on lambda requires --extended-lambda nvcc flag\n");
  EXPECT_EQ(error.message, "a lambda is marked with __host__ or __device__");
  EXPECT_THAT(error.advice, HasSubstr("leave the mark out"));
}

TEST(NvccErrors, AMissingIncludeIsNamed) {
  EXPECT_THAT(nvcc("kernel.cu(2): error: this declaration has no storage class\n", 1, "SOLVE() {}").advice,
              HasSubstr("#include <roofwalk.cuh>"));
}

TEST(NvccErrors, WhatOnlyAHostHasGetsAdvice) {
  EXPECT_THAT(nvcc("kernel.cu(8): error: namespace \"std\" has no member \"vector\"\n").advice,
              HasSubstr("scratch<T>(count)"));
  EXPECT_THAT(nvcc("kernel.cu:2:10: fatal error: helper.h: No such file or directory\n").advice,
              HasSubstr("stands alone"));
}

TEST(NvccErrors, ForgedTextIsHarmless) {
  const Error error = nvcc("kernel.cu:5:2: error: #error \x1b[2J\x1b[1;32mPASS\x07\xff 100\n");
  EXPECT_EQ(error.text(), "my/x.cu:5: #error PASS 100");
  EXPECT_LT(nvcc("kernel.cu(1): error: " + std::string(100000, 'a') + "\n").message.size(), 500u);
}

TEST(NvccErrors, OddLinesAreNoDiagnostics) {
  for (const char* output : {"", "(): error: x\n", "kernel.cu(99999999999): error: x\n", ": : : \n", "kernel.cu(): \n",
                             "\x1b[", "kernel.cu(-): error\n", "of kernel.cu\n"}) {
    EXPECT_THAT(nvcc(output).message, HasSubstr("nvcc failed with exit code 1")) << output;
  }
}

TEST(CompilerEnds, AreNamed) {
  const auto end = [](CommandResult run) { return explain_nvcc(run, "my/x.cu", kOneInclude, 20).text(); };
  const Error busy = explain_nvcc({.exit_code = 137, .timed_out = true, .output = ""}, "my/x.cu", kOneInclude, 300);
  EXPECT_EQ(busy.message, "nvcc did not end within 300 s: this machine is too busy");
  EXPECT_EQ(busy.file, "") << "the learner is not to blame";
  EXPECT_THAT(end({.exit_code = 128 + SIGXCPU, .output = ""}), HasSubstr("my/x.cu: nvcc took more processor time"));
  EXPECT_THAT(end({.exit_code = 134, .output = "LLVM ERROR: out of memory\nAborted\n"}),
              HasSubstr("ran out of memory"));
  EXPECT_THAT(end({.exit_code = 4, .output = "gcc: internal compiler error: File size limit exceeded signal\n"}),
              HasSubstr("wrote more than it may"));
  EXPECT_THAT(end({.exit_code = 139, .output = ""}), HasSubstr("crashed (signal 11)"));
  const Error killed = explain_nvcc({.exit_code = 128 + SIGKILL, .output = ""}, "my/x.cu", kOneInclude, 300);
  EXPECT_EQ(killed.message, "nvcc was killed: this machine may lack memory");
  EXPECT_EQ(killed.file, "") << "the learner is not to blame";
  EXPECT_THAT(end({.exit_code = 137, .output = "x", .flooded = true}), HasSubstr("wrote endless messages"));
  EXPECT_THAT(end({.exit_code = 255, .output = "something else\n"}), HasSubstr("exit code 255: something else"));
  EXPECT_THAT(end({.exit_code = 1, .output = "cc1plus: fatal error: x: No such file\ncompilation terminated.\n"}),
              HasSubstr("my/x.cu: nvcc failed with exit code 1: cc1plus: fatal error: x: No such file"));
}

// The system ends the largest process if memory lacks, which may be one that nvcc runs; a cluster ends all of a job.
TEST(CompilerEnds, ByAnotherProcessAreNobodysMistake) {
  const auto nvcc_said = [](int exit_code, const std::string& output) {
    return explain_nvcc({.exit_code = exit_code, .output = output}, "my/x.cu", kOneInclude, 300);
  };
  const std::string gcc = " signal terminated program cc1plus\ncompilation terminated.\n";
  for (const Error& error :
       {nvcc_said(128 + SIGTERM, ""), nvcc_said(128 + SIGHUP, ""), nvcc_said(137, "Killed\n"),
        nvcc_said(1, "gcc: fatal error: Killed" + gcc), nvcc_said(1, "gcc: fatal error: Terminated" + gcc),
        nvcc_said(4, "\nCompilation terminated.\n"), explain_ptxas({.exit_code = 143, .output = ""}, "x.cu", "", 60)}) {
    EXPECT_THAT(error.message, HasSubstr(" was killed: this machine may lack memory"));
    EXPECT_EQ(error.file, "") << "the learner is not to blame";
  }
  EXPECT_THAT(nvcc_said(4, "gcc: internal compiler error: CPU time limit exceeded" + gcc).text(),
              HasSubstr("my/x.cu: nvcc took more processor time"));
  for (const char* const output : {"kernel.cu(1): catastrophic error: no\n\nCompilation terminated.\n",
                                   "catastrophic error: out of memory\n\nCompilation terminated.\n"})
    EXPECT_EQ(nvcc_said(4, output).file, "my/x.cu") << output;
}

TEST(CompilerEnds, OnAFullDiskAreNobodysMistake) {
  const Error full = explain_nvcc(
      {.exit_code = 1,
       .output = "<built-in>: fatal error: when writing output to /tmp/kernel.cpp1.ii: No space left on device\n"
                 "compilation terminated.\n"},
      "my/x.cu", kOneInclude, 300);
  EXPECT_EQ(full.message, "nvcc has no space for its files: the disk is full");
  EXPECT_EQ(full.file, "");
}

TEST(CompilerEnds, WhereTheMachineLacksSomethingAreNobodysMistake) {
  const auto file_of = [](const std::string& output) {
    return explain_nvcc({.exit_code = 1, .output = output}, "my/x.cu", kOneInclude, 300).file;
  };
  for (const std::string said :
       {"cc1plus: fatal error: error writing to /tmp/x.ii: Disk quota exceeded\n", "sh: 1: Cannot fork\n",
        "gcc: fatal error: cannot execute 'cc1plus': vfork: Resource temporarily unavailable\n"}) {
    EXPECT_EQ(file_of(said), "") << said;
    EXPECT_EQ(file_of("    1 | // " + said), "my/x.cu") << "the compiler shows a line of the file: " << said;
    EXPECT_EQ(file_of("kernel.cu:1:2: warning: #warning " + said), "my/x.cu") << said;
    EXPECT_EQ(file_of("kernel.cu(1): warning #1444-D: f was declared deprecated (\"\n" + said), "my/x.cu") << said;
  }
}

// A node of a cluster may lack a compiler that others have. No file is to blame for that.
TEST(CompilerEnds, OfOneThatCannotRunAreNobodysMistake) {
  const auto nvcc_said = [](int exit_code, const char* output) {
    return explain_nvcc({.exit_code = exit_code, .output = output}, "my/x.cu", kOneInclude, 300);
  };
  const Error no_gcc = nvcc_said(1, "nvcc fatal   : Failed to preprocess host compiler properties.\n");
  EXPECT_EQ(no_gcc.message, "nvcc cannot run here: nvcc fatal   : Failed to preprocess host compiler properties.");
  const Error no_nvcc = nvcc_said(127, "sh: 1: nvcc: not found\n");
  EXPECT_EQ(no_nvcc.message, "nvcc cannot run here: sh: 1: nvcc: not found");
  const Error no_library = explain_ptxas(
      {.exit_code = 127, .output = "ptxas: error while loading shared libraries: libx.so.1\n"}, "my/x.cu", "", 60);
  EXPECT_THAT(no_library.message, HasSubstr("ptxas cannot run here: ptxas: error while loading"));
  for (const Error& error : {no_gcc, no_nvcc, no_library}) EXPECT_EQ(error.file, "") << error.message;
  // What a learner's text makes a compiler print stays the learner's.
  EXPECT_EQ(nvcc_said(1, "kernel.cu:1:2: error: #error nvcc fatal   : no\n").file, "my/x.cu");
  EXPECT_EQ(nvcc_said(1, "    1 | nvcc fatal   : no\n").file, "my/x.cu");
  EXPECT_EQ(nvcc_said(1, "nvcc fatal   : Memory allocation failure\n").file, "my/x.cu");
}

// With #line, a file chooses its name in messages: it must not make its mistakes the machine's, which no point is taken
// for.
TEST(CompilerEnds, OfAMistakeStayTheFilesWhateverItCallsItself) {
  for (const std::string& name : {std::string("nvcc fatal   : x): "), "nvcc fatal   : " + std::string(500, 'x'),
                                  std::string("a\nnvcc fatal   : b): "), std::string("a\nsh: 1: Cannot fork\nb): "),
                                  std::string("a\ngcc: fatal error: x: No space left on device\nb): "),
                                  std::string("a\nx: fatal error: Killed signal terminated program cc1plus\nb): ")}) {
    for (const char* const said : {"(5): error: identifier \"zz\" is undefined\n",
                                   ":5:10: fatal error: x.h: No such file or directory\ncompilation terminated.\n",
                                   "(5): catastrophic error: no\n\nCompilation terminated.\n"}) {
      EXPECT_EQ(explain_nvcc({.exit_code = 2, .output = name + said}, "my/x.cu", kOneInclude, 300).file, "my/x.cu")
          << name << said;
    }
  }
  const CommandResult cut{.exit_code = 2, .output_cut = true, .output = "nvcc fatal   : " + std::string(64 << 10, 'x')};
  EXPECT_EQ(explain_nvcc(cut, "my/x.cu", kOneInclude, 300).file, "my/x.cu");
  const Error killed = explain_nvcc(
      {.exit_code = 4, .output = "kernel.cu(5): warning #177-D: x\n\nCompilation terminated.\n"}, "my/x.cu", "", 300);
  EXPECT_EQ(killed.file, "") << "an honest warning before the compiler was killed";
}

TEST(PtxasErrors, PointAtTheInlineAssembly) {
  constexpr const char* kPtx = ".entry k\n.loc 1 7 1\nfoo.bar;\n.file 1 \"/kernel.cu\"\n";
  const Error error = explain_ptxas({.exit_code = 255,
                                     .output = "ptxas kernel.ptx, line 3; error   : Unknown modifier '.bar'\n"
                                               "ptxas fatal   : Ptx assembly aborted due to errors\n"},
                                    "my/x.cu", kPtx, 60);
  EXPECT_EQ(error.file, "my/x.cu");
  EXPECT_EQ(error.line, 7);
  EXPECT_EQ(error.message, "ptxas: Unknown modifier '.bar'");
  EXPECT_THAT(error.advice, HasSubstr("inline assembly"));
}

TEST(PtxasErrors, WithoutAPlaceStandAsTheyAre) {
  const auto text = [](const char* output) {
    return explain_ptxas({.exit_code = 255, .output = output}, "my/x.cu", "", 60).text();
  };
  EXPECT_EQ(text("ptxas error   : Entry function 'k' uses too much shared data (0x13880 bytes, 0xc000 max)\n"),
            "my/x.cu: Entry function 'k' uses too much shared data (0x13880 bytes, 0xc000 max)");
  EXPECT_EQ(text("ptxas kernel.ptx, line 9; fatal   : Parsing error near '.include': syntax error\n"
                 "ptxas fatal   : Ptx assembly aborted due to errors\n"),
            "my/x.cu: ptxas: Parsing error near '.include': syntax error (nvcc passes inline assembly on unread; what "
            "it holds must be PTX)");
  EXPECT_THAT(text("ptxas fatal   : Memory allocation failure\n"), HasSubstr("ptxas ran out of memory"));
}

TEST(WrittenName, IsWhatTheAuthorWrote) {
  EXPECT_EQ(written_name("_Z3addPKfS0_Pfi"), "add");
  EXPECT_EQ(written_name("_Z5scaleILi128EEvPfdci"), "scale<128>");
  EXPECT_EQ(written_name("__nv_static_30__080d48ba_9_kernel_cu_f458d52c__Z3locPKfPfi"), "loc");
  EXPECT_EQ(written_name("solve"), "solve");
  EXPECT_EQ(written_name("_Znonsense"), "_Znonsense");
}

}  // namespace
}  // namespace roofwalk
