// CUDA programs, built by nvcc as `./roofwalk build -- nvcc ...` does and run as `./roofwalk profile -- ...` does. What
// a call returns, each program checks itself; the tests check what the user sees.
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "common/base/json.h"
#include "common/base/subprocess.h"
#include "common/build/build.h"

namespace roofwalk {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

struct Ended {
  int exit_code = -1;
  std::string output, told;  // its standard output; standard error, with the report
  Json json;
};

std::string text_of(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

class OwnPrograms : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / fs::path("roofwalk-programs-" + std::to_string(getpid()));
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  // Runs one of the project's own commands in the folder of this test.
  Ended run(std::vector<std::string> words) {
    const auto toolkit = find_toolkit(ROOFWALK_ROOT);
    EXPECT_TRUE(toolkit);
    Command command{.arguments = {"/bin/bash", "-c", "exec \"$0\" \"$@\" 2>told", ROOFWALK_PROGRAMS},
                    .working_directory = folder_,
                    .environment = {{"PATH", "/usr/local/bin:/usr/bin:/bin"},  // which need not have nvcc
                                    {"HOME", folder_.string()},
                                    {"ROOFWALK_ROOT", ROOFWALK_ROOT},
                                    {"ROOFWALK_CUDA", toolkit->root.string()}}};
    command.arguments.insert(command.arguments.end(), words.begin(), words.end());
    const auto ran = run_command(command);
    EXPECT_TRUE(ran);
    Ended ended{ran->exit_code, ran->output, text_of(folder_ / "told"), {}};
    if (fs::exists(folder_ / "out.json")) ended.json = parse_json(text_of(folder_ / "out.json"));
    return ended;
  }

  // Builds the files of programs/ with more options of nvcc.
  void build(const std::vector<std::string>& files, const std::vector<std::string>& options = {}) {
    std::vector<std::string> words{"build", "--", "nvcc", "-o", "app"};
    for (const std::string& file : files)
      words.push_back(std::string(ROOFWALK_ROOT) + "/tests/programs/programs/" + file);
    words.insert(words.end(), options.begin(), options.end());
    const Ended ended = run(words);
    ASSERT_EQ(ended.exit_code, 0) << ended.output << ended.told;
  }

  Ended profile(const std::vector<std::string>& arguments = {}, const std::vector<std::string>& options = {}) {
    std::vector<std::string> words{"profile", "--json", "out.json"};
    words.insert(words.end(), options.begin(), options.end());
    words.insert(words.end(), {"--", "./app"});
    words.insert(words.end(), arguments.begin(), arguments.end());
    return run(words);
  }

  // What the command writes to a terminal of 80 columns.
  std::string on_terminal(std::vector<std::string> words) {
    words.insert(words.begin(), ROOFWALK_PROGRAMS);
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    const std::string cuda = find_toolkit(ROOFWALK_ROOT)->root.string();
    const winsize size{24, 80, 0, 0};
    int master = -1;
    const pid_t child = forkpty(&master, nullptr, nullptr, &size);
    if (child == 0) {
      setenv("ROOFWALK_ROOT", ROOFWALK_ROOT, 1);
      setenv("ROOFWALK_CUDA", cuda.c_str(), 1);
      setenv("TERM", "xterm", 1);
      setenv("NO_COLOR", "1", 1);
      if (chdir(folder_.c_str()) == 0) execv(arguments[0], arguments.data());
      _exit(127);
    }
    std::string output;
    char bytes[4096];
    for (ssize_t got = 0; (got = read(master, bytes, sizeof bytes)) > 0;)
      output.append(bytes, static_cast<std::size_t>(got));
    EXPECT_EQ(waitpid(child, nullptr, 0), child);
    close(master);
    return output;
  }

  fs::path folder_;
};
using LongOwnPrograms = OwnPrograms;

TEST_F(OwnPrograms, AnAdditionOfVectorsIsCounted) {
  build({"vector_add.cu"});
  const Ended ended = profile();
  EXPECT_EQ(ended.exit_code, 7);
  EXPECT_EQ(ended.output, "added\n");
  EXPECT_THAT(ended.told, HasSubstr("add            1"));
  ASSERT_TRUE(ended.json.is_object()) << ended.told;
  EXPECT_EQ(ended.json["exit_code"].get<int>(), 7);
  ASSERT_EQ(ended.json["kernels"].size(), 1u);
  const Json kernel = *ended.json["kernels"].begin();
  constexpr int kElements = 1 << 14;
  EXPECT_EQ(kernel["name"].text(), "add");
  EXPECT_EQ(kernel["launches"].get<int>(), 1);
  EXPECT_EQ(kernel["executed_flops"].get<int>(), kElements);
  EXPECT_EQ(kernel["dram_bytes"].get<int>(), 3 * 4 * kElements);
  EXPECT_EQ(kernel["l1_bytes"].get<int>(), 3 * 4 * kElements);
  EXPECT_EQ(kernel["counters"]["dram_read_bytes"].get<int>(), 2 * 4 * kElements);
  EXPECT_GT(kernel["registers_per_thread"].get<int>(), 0);
  EXPECT_GT(kernel["elapsed_ns"].get<double>(), 0);
}

TEST_F(LongOwnPrograms, EveryFormOfPtxIsReadInEveryProgram) {
  for (const char* mode : {"none", "speed", "size"}) {
    build({"vector_add.cu"}, {std::string("--compress-mode=") + mode, "-gencode", "arch=compute_80,code=sm_80"});
    EXPECT_EQ(profile().exit_code, 7) << mode;
  }
}

TEST_F(LongOwnPrograms, CallsReturnWhatTheRuntimeReturns) {
  for (const char* name : {"symbols.cu", "shared_memory_of_host.cu", "streams.cu", "errors.cu", "figures_of_device.cu",
                           "volumes.cu", "pools_and_callbacks.cu", "managed_variables.cu", "graphs.cu"}) {
    build({name}, {"-std=c++17"});
    const Ended ended = profile();
    EXPECT_EQ(ended.exit_code, 0) << name << ": " << ended.output << ended.told;
    EXPECT_EQ(ended.output, "ok\n") << name;
    if (std::string(name) != "errors.cu") continue;
    const std::string line = "roofwalk: cudaIpcGetMemHandle is not served by the virtual GPU yet";
    EXPECT_THAT(ended.told, HasSubstr(line));
    EXPECT_EQ(ended.told.find(line), ended.told.rfind(line)) << "told once";
    EXPECT_THAT(ended.told, HasSubstr("kernel bounded is not launched with a grid of 0 x 1 x 1 and a block of 1 x 1 x "
                                      "1, cudaErrorInvalidConfiguration: the grid is empty"));
    EXPECT_THAT(ended.told, HasSubstr("this kernel has at most 128 threads a block"));
    const std::string full = "of device memory, but 0 of the 1024 MiB of classroom are taken";
    EXPECT_THAT(ended.told, HasSubstr(full));
    EXPECT_EQ(ended.told.find(full), ended.told.rfind(full)) << "told once";
  }
}

TEST_F(LongOwnPrograms, FilesAreModulesOfTheirOwn) {
  build({"two_files.cu", "other_file.cu"});
  const Ended ended = profile();
  EXPECT_EQ(ended.exit_code, 0) << ended.output << ended.told;
  EXPECT_EQ(ended.json["kernels"].size(), 2u);  // one of each file
}

TEST_F(LongOwnPrograms, FilesThatAreLinkedCallEachOther) {
  build({"linked.cu", "linked_other.cu"}, {"-rdc=true"});
  const Ended ended = profile();
  EXPECT_EQ(ended.output, "ok\n") << ended.told;
  EXPECT_EQ(ended.json["kernels"].size(), 3u);  // one of each file, and a memset
}

TEST_F(LongOwnPrograms, EachThreadMayHaveADefaultStream) {
  build({"streams.cu"}, {"--default-stream", "per-thread"});
  EXPECT_EQ(profile().output, "ok\n");
}

TEST_F(LongOwnPrograms, GridsWaitForThemselves) {
  build({"cooperative.cu"}, {"-std=c++17"});
  for (const std::vector<std::string>& options : std::vector<std::vector<std::string>>{{}, {"--sanitize"}}) {
    const Ended ended = profile({}, options);
    EXPECT_EQ(ended.output, "ok\n") << ended.told;
    EXPECT_EQ(ended.json["faults"].size(), 0u);
  }
  EXPECT_EQ(profile({"plain"}).exit_code, 4);
}

TEST_F(LongOwnPrograms, KernelsTakeMemoryFromTheHeap) {
  build({"heap.cu"});
  for (const std::vector<std::string>& options : std::vector<std::vector<std::string>>{{}, {"--sanitize"}})
    EXPECT_EQ(profile({}, options).output, "ok\n");
  const Ended ended = profile({"wrong"});
  EXPECT_EQ(ended.exit_code, 5);
  EXPECT_THAT(ended.told, HasSubstr("heap.cu:32: free() or delete of 0x"));
}

TEST_F(LongOwnPrograms, ReadsOfWhatNothingHasWrittenAreFound) {
  build({"unwritten.cu"});
  const Ended ended = profile({}, {"--sanitize"});
  EXPECT_EQ(ended.exit_code, 6);
  EXPECT_THAT(ended.told, HasSubstr("unwritten.cu:15: uninitialized: reads argument 1[99], which nothing has written"));
  const Ended honest = profile({"honest"}, {"--sanitize"});
  EXPECT_EQ(honest.output, "ok\n") << honest.told;
  EXPECT_EQ(honest.json["faults"].size(), 0u);
  EXPECT_EQ(profile().exit_code, 0) << "only where it is asked for";
}

TEST_F(LongOwnPrograms, NothingMakesThemHang) {
  for (const char* name : {"wild_pointers.cu", "signals.cu", "many_launches.cu"}) {
    build({name}, {"-std=c++17"});
    const Ended ended = profile();
    EXPECT_EQ(ended.output, "ok\n") << name << ": " << ended.told;
  }
}

TEST_F(LongOwnPrograms, AWarningIsToldOncePerKernel) {
  build({"many_launches.cu"});
  const Ended ended = profile({"10"});
  std::size_t told = 0;
  const std::string words = "as if they had nothing to do";
  for (std::size_t at = 0; (at = ended.told.find(words, at)) != std::string::npos; ++at) ++told;
  EXPECT_EQ(told, 2u) << ended.told;
}

TEST_F(LongOwnPrograms, AKernelThatLaunchesKernelsIsTold) {
  build({"launches_kernels.cu"}, {"-rdc=true", "-lcudadevrt"});
  const Ended ended = profile();
  EXPECT_EQ(ended.output, "ok\n") << ended.told;
  EXPECT_THAT(ended.told, HasSubstr("kernel launch does not run"));
  EXPECT_THAT(ended.told, HasSubstr("kernels launch no kernels"));
}

TEST_F(LongOwnPrograms, TexturesAreToldOnceAndWhereAKernelReadsThem) {
  build({"textures.cu"});
  const Ended ended = profile();
  EXPECT_EQ(ended.output, "ok\n") << ended.told;
  EXPECT_THAT(ended.told,
              HasSubstr("cudaMallocArray returns cudaErrorNotSupported: textures, surfaces and their arrays "
                        "are not modelled; pass a pointer, and read global memory"));
  EXPECT_THAT(ended.told, Not(HasSubstr("cudaCreateTextureObject")));
  EXPECT_THAT(ended.told, HasSubstr("textures.cu:5: kernel sample does not run: "));
}

TEST_F(LongOwnPrograms, WhatKernelsPrintStandsWhereTheyRan) {
  build({"copies.cu"});
  EXPECT_EQ(profile().output, "before\ndevice says 0\nafter\n");
}

TEST_F(LongOwnPrograms, AFaultIsToldWithItsPlaceAndStays) {
  build({"fault.cu"});
  const Ended ended = profile();
  EXPECT_EQ(ended.exit_code, 3) << ended.output;
  EXPECT_EQ(ended.output, "an illegal memory access was encountered\n");
  EXPECT_THAT(ended.told, HasSubstr("fault.cu:6: out of bounds: writes argument 1[1000], but argument 1 holds 1000 "
                                    "elements (kernel fill, block 3, thread 232)"));
  EXPECT_EQ(ended.json["faults"].size(), 1u);
  const Ended honest = profile({"honest"});
  EXPECT_EQ(honest.output, "ok\n");
  EXPECT_EQ(honest.json["faults"].size(), 0u);
}

TEST_F(LongOwnPrograms, WhatWasMeasuredIsWrittenAfterASignal) {
  build({"threads_and_processes.cu"});
  const Ended ended = profile();
  EXPECT_EQ(ended.exit_code, 128 + 9) << ended.output << ended.told;
  EXPECT_EQ(ended.output, "ok\n");
  std::uint64_t launches = 0;
  for (const Json& kernel : ended.json["kernels"]) {
    if (kernel["name"].text() == "count") launches = kernel["launches"].get<std::uint64_t>();
  }
  EXPECT_EQ(launches, 8u * 11);
}

TEST_F(LongOwnPrograms, FiguresOfLaunchesAlikeAreCarriedOver) {
  build({"streams.cu"});
  const Ended all = profile(), one = profile({}, {"--count", "1"});
  EXPECT_EQ(one.output, "ok\n");
  EXPECT_THAT(all.told, Not(HasSubstr("launches were counted")));
  EXPECT_THAT(one.told, HasSubstr("1 of 3 launches were counted"));
  const Json of_all = *all.json["kernels"].begin(), of_one = *one.json["kernels"].begin();
  EXPECT_EQ(of_all["counted_launches"].get<int>(), 3);
  EXPECT_EQ(of_one["counted_launches"].get<int>(), 1);
  for (const char* figure : {"launches", "executed_flops", "dram_bytes", "elapsed_ns"})
    EXPECT_EQ(of_one[figure].get<double>(), of_all[figure].get<double>()) << figure;
}

std::uint64_t launches_of(const Ended& ended, const std::string& name) {
  std::uint64_t launches = 0;
  for (const Json& kernel : ended.json["kernels"]) {
    if (kernel["name"].text() == name) launches += kernel["launches"].get<std::uint64_t>();
  }
  return launches;
}

TEST_F(LongOwnPrograms, ChosenLaunchesAreMeasured) {
  build({"several_kernels.cu"});
  const std::string one = "my::scale<my::Tile<1> >", two = "my::scale<my::Tile<2> >";
  const Ended all = profile();
  EXPECT_EQ(all.output, "ok\n");
  EXPECT_EQ(all.json["kernels"].size(), 4u) << "with the memset";
  EXPECT_EQ(launches_of(all, one), 3u);
  const Ended scales = profile({}, {"--kernel", "scale"});
  EXPECT_EQ(scales.output, "ok\n");
  EXPECT_EQ(scales.json["kernels"].size(), 2u);
  EXPECT_EQ(scales.json["launches"].get<int>(), 5);
  EXPECT_EQ(scales.json["measured_launches"].get<int>(), 4);
  EXPECT_THAT(scales.told, HasSubstr("4 of 5 launches of kernels were chosen"));
  const Ended some = profile({}, {"--kernel", "regex:Tile<[12]>", "--launch-skip", "2", "--launch-count", "1"});
  EXPECT_EQ(launches_of(some, one), 1u);
  EXPECT_EQ(launches_of(some, two), 0u);
  EXPECT_EQ(some.json["kernels"][0]["elapsed_ns"].get<double>(),
            scales.json["kernels"][0]["elapsed_ns"].get<double>() / 3)
      << "as measured among the others";
  const Ended none = profile({}, {"--kernel", "scales"});
  EXPECT_THAT(none.told, HasSubstr("none of its launches was chosen; its kernels are gather (1 launch), " + one));
  EXPECT_EQ(none.exit_code, 0);
}

TEST_F(LongOwnPrograms, AKernelIsDiagnosedAndShownLineByLine) {
  build({"several_kernels.cu"});
  const Ended ended = profile({}, {"--lines", "gather", "--csv", "out.csv", "--plot", "out.svg"});
  const Json longest = *ended.json["kernels"].begin();
  EXPECT_EQ(longest["name"].text(), "gather");
  EXPECT_EQ(longest["diagnosis"]["cause"].text(), "over_fetch");
  constexpr int kLoad = 25;
  EXPECT_EQ(longest["diagnosis"]["line"].get<int>(), kLoad);
  EXPECT_THAT(ended.told, HasSubstr("several_kernels.cu:25: 32 sectors a load where 4 would do"));
  EXPECT_THAT(ended.told, HasSubstr("gather on virtual:classroom, launches=1:"));
  EXPECT_EQ(ended.json["profile"]["kernel"].text(), "gather");
  EXPECT_TRUE(ended.json["profile"]["lines"][kLoad - 1]["hot"].get<bool>());
  EXPECT_THAT(ended.told, testing::ContainsRegex("! .*25 +sum \\+= from\\[at\\];"));
  EXPECT_THAT(text_of(folder_ / "out.csv"), HasSubstr("\r\ngather,"));
  EXPECT_THAT(text_of(folder_ / "out.svg"), HasSubstr("area: share of the time"));
  EXPECT_THAT(profile({}, {"--lines", "gathers"}).told, HasSubstr("--lines gathers: no kernel"));
}

TEST_F(LongOwnPrograms, AReportOfAnotherFormatTakesThePlaceOfTheTable) {
  build({"several_kernels.cu"});
  const Ended json = run({"profile", "--format", "json", "--", "./app"});
  EXPECT_EQ(parse_json(json.told)["kernels"].size(), 4u) << json.told;
  EXPECT_EQ(json.output, "ok\n");
  const Ended csv = run({"profile", "--format=csv", "--output", "report.csv", "--", "./app"});
  EXPECT_EQ(csv.told, "");
  EXPECT_EQ(text_of(folder_ / "report.csv").find("name,file,launches"), 0u);
}

TEST_F(LongOwnPrograms, AGateFailsWhereAFigureHasGrown) {
  build({"several_kernels.cu"});
  fs::create_directories(folder_ / "main");
  const Ended before = run({"profile", "--json", "main/out.json", "--", "./app"});
  ASSERT_EQ(before.exit_code, 0);
  const std::vector<std::string> gate{"--against", "main/out.json", "--fail-if", "l1_bytes > +2%",
                                      "--junit",   "junit.xml",     "--fail-if", "gather: registers_per_thread > 255"};
  const Ended same = profile({}, gate);
  EXPECT_EQ(same.exit_code, 0) << same.told;
  EXPECT_THAT(same.told, HasSubstr("4 kernels as before"));
  EXPECT_THAT(text_of(folder_ / "junit.xml"), HasSubstr("tests=\"6\" failures=\"0\""));
  const Ended more = profile({"more"}, gate);
  EXPECT_EQ(more.exit_code, 1);
  EXPECT_EQ(more.output, "ok\n");
  EXPECT_THAT(more.told, HasSubstr("roofwalk: gather: l1_bytes "));
  EXPECT_THAT(more.told, HasSubstr("3 kernels as before"));
  EXPECT_THAT(text_of(folder_ / "junit.xml"), HasSubstr("tests=\"6\" failures=\"1\""));
  const Ended wrong = profile({}, {"--fail-if", "l1_byte > 3"});
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_EQ(wrong.output, "") << "told before the program runs";
  EXPECT_EQ(profile({}, {"--against", "main/out.json", "--device", "virtual:a100-80/8"}).exit_code, 2);
}

TEST_F(LongOwnPrograms, ALongLaunchIsNamedOnTheTerminalBelowWhatTheProgramPrints) {
  build({"long_launch.cu"});
  const std::string shown = on_terminal({"profile", "--", "./app"});
  const std::string below = "\x1b[B\r", back = "\x1b[K\x1b" + std::string("8");
  EXPECT_THAT(shown, HasSubstr(below + "spin: launch 1 (1 of all kernels)"));
  EXPECT_THAT(shown, HasSubstr(below + back + "a while\r\n")) << "the line is gone before the program goes on";
  EXPECT_EQ(shown.find("it takes "), 0u);
  EXPECT_THAT(shown, HasSubstr("kernel"));
  EXPECT_THAT(profile().told, Not(HasSubstr("of all kernels"))) << "no terminal";
}

TEST_F(LongOwnPrograms, ChecksFindWhatTheyAreFor) {
  for (const char* name : {"race.cu", "unset.cu"}) {
    build({name});
    EXPECT_EQ(profile().exit_code, 0) << "such mistakes are looked for if that is asked for";
    for (const std::vector<std::string>& options :
         {std::vector<std::string>{"--sanitize"}, {"--sanitize", "--check-only"}}) {
      const Ended wrong = profile({}, options), honest = profile({"honest"}, options);
      EXPECT_EQ(wrong.exit_code, 1) << name;
      EXPECT_EQ(wrong.output, "ran\n");
      EXPECT_THAT(wrong.told, HasSubstr(std::string(name) + ":"));
      EXPECT_EQ(wrong.json["faults"].size(), 1u);
      EXPECT_EQ(honest.exit_code, 0) << name << ": " << honest.told;
      EXPECT_EQ(honest.json["notes"].size(), 0u) << honest.told;
    }
  }
  EXPECT_THAT(profile({"honest"}, {"--check-only"}).told, HasSubstr("2 launches checked, no fault found"));
}

TEST_F(LongOwnPrograms, LinksThatNameTheStaticRuntimeGetTheSharedOne) {
  build({"vector_add.cu"}, {"-c", "-o", "app.o"});
  std::ofstream(folder_ / "list") << "app.o /nowhere/lib64/libcudart_static.a\n-ldl";
  for (const char* link : {"g++ app.o -lcudart_static -ldl", "g++ app.o /nowhere/lib64/libcudart_static.a",
                           "g++ -fuse-ld=bfd app.o -l:libcudart_static.a", "g++ @list", "nvcc app.o -lcudart_static"}) {
    fs::remove(folder_ / "app");
    const Ended linked = run({"build", "--", "bash", "-c", link + std::string(" -o app")});
    ASSERT_EQ(linked.exit_code, 0) << link << ": " << linked.told;
    EXPECT_EQ(profile().exit_code, 7) << link;
  }
  EXPECT_EQ(run({"build", "--", "./app"}).exit_code, 7) << "builds run programs, too";
  EXPECT_NE(run({"build", "--", "bash", "-c", "g++ app.o -o app"}).exit_code, 0) << "no runtime at all";
}

TEST_F(LongOwnPrograms, ProgramsThatCannotRunAreToldWhatToDo) {
  build({"vector_add.cu"}, {"-cudart", "static"});  // the last one counts, and that is the front's: it does run
  EXPECT_EQ(profile().exit_code, 7);
  const std::string source = std::string(ROOFWALK_ROOT) + "/tests/programs/programs/vector_add.cu";
  const auto compiled = [&](std::vector<std::string> options) {
    std::vector<std::string> arguments{"nvcc", "-o", "app", source};
    arguments.insert(arguments.end(), options.begin(), options.end());
    arguments.front() = (find_toolkit(ROOFWALK_ROOT)->root / "bin/nvcc").string();
    const auto ran = run_command({.arguments = arguments, .working_directory = folder_});
    ASSERT_TRUE(ran && ran->exit_code == 0) << ran->output;
  };
  compiled({});
  Ended ended = profile();
  EXPECT_EQ(ended.exit_code, 2);
  EXPECT_THAT(ended.told, HasSubstr("./app has the CUDA runtime linked in"));
  compiled({"-cudart", "shared", "-gencode", "arch=compute_80,code=sm_80"});
  ended = profile();
  EXPECT_THAT(ended.told, HasSubstr("machine code only"));
  EXPECT_EQ(ended.exit_code, 1);  // its own: the launch has failed
  compiled({"-cudart", "shared", "-gencode", "arch=compute_90,code=compute_90"});
  ended = profile();
  EXPECT_THAT(ended.told, HasSubstr("for compute capability 9.0 and later, and classroom has 8.0"));
  EXPECT_EQ(profile({}, {"--device", "virtual:h100-sxm/8"}).exit_code, 7);
  EXPECT_EQ(run({"profile", "--", "./nothing"}).exit_code, 2);
  EXPECT_THAT(run({"profile", "--", "/bin/true"}).told, HasSubstr("has not used the CUDA runtime"));
}

// Libraries of these names, but empty, stand for NVIDIA's.
TEST_F(LongOwnPrograms, ProgramsThatNeedADriverAreToldSo) {
  const auto linked_with = [&](const std::string& libraries, const std::string& source) {
    std::string script = "true";
    for (const char* name : {"cuda.so.1", "cublas.so.13", "curand.so.10"})
      script += std::string(" && echo | gcc -shared -x c - -o lib") + name + " -Wl,-soname,lib" + name;
    script += " && " + source + " | gcc -x c - -o app -L. -Wl,-rpath,. -Wl,--no-as-needed " + libraries;
    const auto ran = run_command({.arguments = {"/bin/bash", "-c", script}, .working_directory = folder_});
    ASSERT_TRUE(ran && ran->exit_code == 0) << ran->output;
  };
  const std::string nothing = "echo 'int main() { return 3; }'";
  linked_with("-l:libcublas.so.13 -l:libcurand.so.10", nothing);
  Ended ended = profile();
  EXPECT_EQ(ended.exit_code, 3);
  EXPECT_THAT(ended.told, HasSubstr("./app is linked with libcublas.so.13, libcurand.so.10, which need a real GPU"));
  linked_with("-l:libcuda.so.1", nothing);
  ended = profile();
  EXPECT_EQ(ended.exit_code, 3);
  EXPECT_THAT(ended.told, HasSubstr("./app is linked with the CUDA driver"));
  EXPECT_THAT(ended.told, Not(HasSubstr("a real GPU")));
  linked_with("", nothing);
  EXPECT_THAT(profile().told, Not(HasSubstr("is linked with")));
}

// Every name of the real library is in ours, of the same version: one that were missing would stop a program at its
// start.
TEST_F(LongOwnPrograms, EveryNameOfTheRealLibraryIsThere) {
  const auto names_of = [](const fs::path& library) {
    const auto ran = run_command({.arguments = {"nm", "-D", "--defined-only", library.string()}});
    std::set<std::string> names;
    std::istringstream lines(ran ? ran->output : "");
    for (std::string address, kind, name; lines >> address >> kind >> name;) {
      if (name.find("cuda") < 3) names.insert(name);
    }
    return names;
  };
  const auto toolkit = find_toolkit(ROOFWALK_ROOT);
  ASSERT_TRUE(toolkit);
  const auto real = names_of(toolkit->root / "lib64/libcudart.so.13"), ours = names_of(ROOFWALK_CUDART);
  if (real.empty()) GTEST_SKIP() << "the toolkit has no shared runtime to compare with";
  EXPECT_GT(real.size(), 400u);
  for (const std::string& name : real) EXPECT_TRUE(ours.contains(name)) << name;
}

TEST_F(LongOwnPrograms, ErrorsHaveTheNamesAndTextsOfTheRealLibrary) {
  using Text = const char* (*)(int);
  const auto toolkit = find_toolkit(ROOFWALK_ROOT);
  ASSERT_TRUE(toolkit);
  void* const real = dlopen((toolkit->root / "lib64/libcudart.so.13").c_str(), RTLD_NOW | RTLD_LOCAL);
  void* const ours = dlopen(ROOFWALK_CUDART, RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(ours, nullptr) << dlerror();
  if (real == nullptr) GTEST_SKIP() << "the toolkit has no shared runtime to compare with";
  constexpr int kMost = 1100;
  for (const char* function : {"cudaGetErrorName", "cudaGetErrorString"}) {
    const auto of_real = reinterpret_cast<Text>(dlsym(real, function));
    const auto of_ours = reinterpret_cast<Text>(dlsym(ours, function));
    for (int error = -1; error < kMost; ++error) EXPECT_STREQ(of_ours(error), of_real(error)) << error;
  }
}

}  // namespace
}  // namespace roofwalk
