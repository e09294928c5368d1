#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <set>

#include "tests/unit/doctor/places.h"

namespace roofwalk {
namespace {

using testing::h100;
using ::testing::HasSubstr;
using testing::laptop;
using ::testing::Not;
using testing::server;

std::optional<MachineFinding> find(const std::vector<MachineFinding>& findings, std::string_view id) {
  for (const MachineFinding& finding : findings) {
    if (finding.id == id) return finding;
  }
  return std::nullopt;
}

std::string all_advice(const MachineFinding& finding) {
  std::string text;
  for (const std::string& line : finding.advice) text += line + "\n";
  return text;
}

// One change of the surroundings, and the finding that it must cause.
struct Case {
  const char* name;
  std::function<void(Surroundings&)> spoil;
  const char* id;
  Condition condition;
  const char* what;    // a part of the text
  const char* advice;  // a part of the advice; empty: no advice
  Surroundings (*place)() = server;
};

constexpr auto kGood = Condition::ok, kTip = Condition::could_be_better, kFail = Condition::broken,
               kNone = Condition::not_here;

Surroundings::Slurm cluster(std::vector<Surroundings::Slurm::Node> nodes) {
  return {.is_here = true, .trouble = {}, .nodes = std::move(nodes)};
}

GpuState& state(Surroundings& around) { return around.gpu.driver.gpus.at(0).state; }

const Case kCases[] = {
    // this machine
    {"Wsl2", [](auto& a) { a.system.wsl = 2; }, "system", kGood, "in Windows (WSL 2)", "", laptop},
    {"Wsl1", [](auto& a) { a.system.wsl = 1; }, "system", kTip, "(WSL 1)", "--set-version", laptop},
    {"Container", [](auto& a) { a.system.container = "podman"; }, "system", kGood, "in a container (podman)", "", laptop},
    {"OneCore", [](auto& a) { a.system.cores = 1; }, "cores", kGood, "slower", "", laptop},
    {"PartsOfCores", [](auto& a) { a.system.cores = 2.5; }, "cores", kGood, "2.5", "", laptop},
    {"LittleMemory", [](auto& a) { a.system.memory_bytes = 1'000'000'000; }, "memory", kTip, "1.0 GB", "1.5 GB",
     laptop},
    {"LittleDisk", [](auto& a) { a.storage.free_bytes = 900'000'000; }, "disk", kTip, "0.9 GB free", "1 GB", laptop},
    {"FullDisk", [](auto& a) { a.storage.free_bytes = 1'000'000; }, "disk", kFail, "full", "free 1 GB", laptop},
    {"ForeignFolder",
     [](auto& a) {
       a.storage.unwritable = {"my", ".cache"};
     },
     "folders", kFail, "my, .cache", "$ sudo chown -R $USER my .cache", laptop},
    {"ForeignCache",
     [](auto& a) {
       a.storage.unwritable = {"/course/.cache"};
     },
     "folders", kTip, "takes longer", "$ sudo chown -R $USER /course/.cache", laptop},
    {"Nfs", [](auto& a) { a.storage.network = "NFS"; }, "network", kTip, "my/ is on NFS", "local disk", laptop},
    {"WindowsFolder", [](auto& a) { a.storage.network = "Windows"; }, "network", kTip, "Windows folder", "$ cp",
     laptop},
    // toolkit
    {"NoCompiler", [](auto& a) { a.tools.compiler.clear(); }, "compiler", kFail, "none", "install g++", laptop},
    {"NoToolkit",
     [](auto& a) {
       a.tools.toolkit = Error{.message = "no CUDA toolkit", .advice = "run ./roofwalk"};
     },
     "toolkit", kFail, "no CUDA toolkit", "run ./roofwalk", laptop},
    {"NoPtxas", [](auto& a) { a.tools.ptxas_version.clear(); }, "toolkit", kFail, "ptxas does not run", "reinstall it", laptop},
    {"OtherPtxas", [](auto& a) { a.tools.ptxas_version = "12.4.1"; }, "toolkit", kFail, "is 12.4.1", "reinstall it", laptop},
    {"NotTried", [](auto& a) { a.tools.runs.reset(); }, "virtual_gpu", kNone, "not tried", "", laptop},
    {"RunsWrong",
     [](auto& a) {
       a.tools.runs = false;
       a.tools.run_text = "computes wrong";
     },
     "virtual_gpu", kFail, "computes wrong", "report", laptop},
    // the GPU
    {"NoGpu", [](auto&) {}, "gpu", kNone, "nothing is missing", "", laptop},
    {"NoGpuInWsl", [](auto& a) { a.system.wsl = 2; }, "gpu", kNone, "Windows passes none", "in Windows (never inside",
     laptop},
    {"NoDriver", [](auto& a) { a.gpu.on_the_bus = 1; }, "gpu", kTip, "driver is missing", "580 or later", laptop},
    {"DockerWithout",
     [](auto& a) {
       a.gpu.on_the_bus = 1;
       a.system.container = "docker";
     },
     "gpu", kTip, "this container may not use it", "docker run --gpus all", laptop},
    {"PodmanWithout",
     [](auto& a) {
       a.gpu.on_the_bus = 1;
       a.system.container = "podman";
     },
     "gpu", kTip, "this container may not use it", "--device nvidia.com/gpu=all", laptop},
    {"OtherContainerWithout",
     [](auto& a) {
       a.gpu.on_the_bus = 1;
       a.system.container = "lxc";
     },
     "gpu", kTip, "this container may not use it", "ask whoever", laptop},
    {"NoDevice",
     [](auto& a) {
       a.gpu.driver = {.has_library = true, .error = 100, .trouble = "CUDA_ERROR_NO_DEVICE (100)"};
     },
     "gpu", kTip, "reports no GPU", "--gres=gpu:1"},
    {"NoDeviceInDocker",
     [](auto& a) {
       a.gpu.driver = {.has_library = true, .error = 100};
       a.system.container = "docker";
     },
     "gpu", kTip, "reports no GPU", "--gpus all"},
    {"Hidden",
     [](auto& a) {
       a.gpu.driver = {.has_library = true, .error = 100};
       a.gpu.hides_all = true;
     },
     "gpu", kTip, "CUDA_VISIBLE_DEVICES hides", "$ unset CUDA_VISIBLE_DEVICES"},
    {"Forbidden",
     [](auto& a) {
       a.gpu.driver = {.has_library = true, .error = 304, .trouble = "CUDA_ERROR_OPERATING_SYSTEM (304)"};
     },
     "gpu", kTip, "CUDA_ERROR_OPERATING_SYSTEM", "/proc is writable"},
    {"Updated",
     [](auto& a) {
       a.gpu.driver = {.has_library = true, .error = 803};
     },
     "gpu", kTip, "was updated", "restart"},
    {"LibraryTooNew",
     [](auto& a) {
       a.gpu.driver = {.has_library = true, .error = 804};
     },
     "gpu", kTip, "newer than the driver in the kernel", "on the host"},
    {"Crashes",
     [](auto& a) {
       a.gpu.driver = {.has_library = true, .error = -1, .trouble = "it crashed (Aborted)"};
     },
     "gpu", kTip, "crashed (Aborted)", "restart"},
    {"Usable", [](auto&) {}, "gpu", kGood, "NVIDIA H100 80GB HBM3, compute capability 9.0, 86 GB", "--device cuda:0"},
    {"OldChip",
     [](auto& a) {
       a.gpu.driver.gpus[0].major = 6;
       a.gpu.driver.gpus[0].minor = 1;
     },
     "gpu", kNone, "6.1, 86 GB: CUDA 13 compiles for 7.5 and later", "virtual GPU takes its place"},
    {"OldestChip",
     [](auto& a) {
       a.gpu.driver.gpus[0].major = 7;
       a.gpu.driver.gpus[0].minor = 5;
     },
     "gpu", kGood, "capability 7.5", "cuda:0"},
    {"Driver", [](auto&) {}, "driver", kGood, "580.65.06, up to CUDA 13.0", ""},
    {"OldDriver",
     [](auto& a) {
       a.gpu.driver.cuda_version = 12040;
       state(a).driver_version = "550.54.14";
     },
     "driver", kTip, "550.54.14, up to CUDA 12.4: CUDA 13 needs driver 580", "virtual GPU's"},
    {"DriverWithoutNvml", [](auto& a) { state(a).driver_version.reset(); }, "driver", kGood, "580.65.06", ""},
    {"Choice", [](auto& a) { a.gpu.visible_devices = "1"; }, "visible_devices", kGood, "CUDA_VISIBLE_DEVICES=1", ""},
    {"Clocks", [](auto&) {}, "clocks", kGood, "1980 of 1980 MHz, 31 C, 71 of 700 W", ""},
    {"NoClocks",
     [](auto& a) {
       state(a).sm_clock_mhz.reset();
       a.gpu.driver.nvml_trouble = "no library";
     },
     "clocks", kTip, "cannot be read: no library", "measured anyway"},
    {"PowerCapped", [](auto& a) { state(a).clock_reason_bits = 0x4; }, "clocks", kGood, "power limit", ""},
    {"Braked", [](auto& a) { state(a).clock_reason_bits = 0x40; }, "clocks", kTip, "too hot", "let it cool"},
    {"NotPersistent", [](auto& a) { state(a).persistence = false; }, "persistence", kTip, "start slowly",
     "nvidia-persistenced"},
    {"HostMemory", [](auto& a) { a.gpu.driver.gpus[0].reaches_host_memory = true; }, "host_memory", kGood, "(HMM)", ""},
    // counters
    {"Cupti", [](auto&) {}, "cupti", kGood, "libcupti.so.13", ""},
    {"NoCupti", [](auto& a) { a.tools.cupti_library.clear(); }, "cupti", kTip, "not found", "cuda-cupti-13-0"},
    {"Open", [](auto&) {}, "permission", kGood, "everybody may read", ""},
    {"Closed", [](auto& a) { a.gpu.counters_for_admins_only = true; }, "permission", kTip, "only administrators",
     "$ options nvidia NVreg_RestrictProfilingToAdminUsers=0"},
    {"ClosedGoesOn", [](auto& a) { a.gpu.counters_for_admins_only = true; }, "permission", kTip, "only administrators",
     "you can go on"},
    {"ClosedInDocker",
     [](auto& a) {
       a.gpu.counters_for_admins_only = true;
       a.system.container = "docker";
     },
     "permission", kTip, "only administrators", "$ docker run --cap-add=PERFMON"},
    {"ClosedInDockerOfOldDriver",
     [](auto& a) {
       a.gpu.counters_for_admins_only = true;
       a.system.container = "docker";
       state(a).driver_version = "560.35.03";
     },
     "permission", kTip, "only administrators", "$ docker run --cap-add=SYS_ADMIN"},
    {"Administrator",
     [](auto& a) {
       a.gpu.counters_for_admins_only = true;
       a.gpu.may_administer = true;
     },
     "permission", kGood, "includes you", ""},
    {"Perfmon",
     [](auto& a) {
       a.gpu.counters_for_admins_only = true;
       a.gpu.may_monitor = true;
     },
     "permission", kGood, "CAP_PERFMON", ""},
    {"PerfmonOfOldDriver",
     [](auto& a) {
       a.gpu.counters_for_admins_only = true;
       a.gpu.may_monitor = true;
       state(a).driver_version = "560.35.03";
     },
     "permission", kTip, "only administrators", "modprobe.d"},
    {"UnknownPermission", [](auto& a) { a.gpu.counters_for_admins_only.reset(); }, "permission", kGood,
     "the first run will show", ""},
    {"WindowsPermission",
     [](auto& a) {
       a.gpu.counters_for_admins_only.reset();
       a.system.wsl = 2;
     },
     "permission", kGood, "Windows decides", "NVIDIA Control Panel"},
    {"Vgpu", [](auto& a) { state(a).virtualization = "vgpu"; }, "vgpu", kTip, "vGPU", "enable_profiling"},
    {"Mps", [](auto& a) { a.gpu.has_mps = true; }, "mps", kTip, "do not work", "$ echo quit"},
    // sharing
    {"Alone", [](auto&) {}, "others", kGood, "nobody else computes on it", ""},
    {"AloneInContainer", [](auto& a) { a.gpu.sees_host_pids = false; }, "others", kGood, "as far as a container can see",
     ""},
    {"Others",
     [](auto& a) {
       *state(a).processes = {{.pid = 7, .used_bytes = 3'100'000'000, .name = "python", .user = "alice"}, {.pid = 8}};
     },
     "others", kTip, "python of alice (3.1 GB) and 1 more", "wait until the GPU is free"},
    {"OthersOfTheHost",
     [](auto& a) {
       *state(a).processes = {{.pid = 7}};
       a.gpu.sees_host_pids = false;
     },
     "others", kTip, "process 7", "the host can tell"},
    {"Unseen", [](auto& a) { state(a).processes.reset(); }, "others", kNone, "cannot be seen", ""},
    {"Slice",
     [](auto& a) {
       state(a).mig = true;
       state(a).uuid = "MIG-1";
     },
     "slices", kGood, "slice of a GPU (MIG)", "one compute instance"},
    {"CutButWhole", [](auto& a) { state(a).mig = true; }, "slices", kTip, "none of them is assigned", "CUDA_VISIBLE_DEVICES"},
    {"Exclusive", [](auto& a) { state(a).compute_mode = "exclusive_process"; }, "compute_mode", kGood, "one program", ""},
    {"Prohibited", [](auto& a) { state(a).compute_mode = "prohibited"; }, "compute_mode", kTip, "forbids all programs",
     "nvidia-smi -c DEFAULT"},
    {"Slurm", [](auto& a) { a.system.slurm_job = "4711"; }, "slurm", kGood, "job 4711", ""},
    // plots and screens
    {"NoGnuplot", [](auto& a) { a.screen.gnuplot.clear(); }, "gnuplot", kFail, "not found", "gnuplot-nox", laptop},
    {"NoSvg", [](auto& a) { a.screen.gnuplot_formats = {"dumb"}; }, "gnuplot", kFail, "draws no SVG", "gnuplot-nox",
     laptop},
    {"NoPng", [](auto& a) { a.screen.gnuplot_formats = {"svg"}; }, "gnuplot", kTip, "no PNG", "gnuplot-nox", laptop},
    {"NoFonts", [](auto& a) { a.screen.font.clear(); }, "fonts", kTip, "without text", "fonts-dejavu-core", laptop},
    {"Pipe", [](auto& a) { a.screen.is_terminal = false; }, "terminal", kNone, "a file or another program", "", laptop},
    {"Narrow", [](auto& a) { a.screen.columns = 60; }, "terminal", kTip, "60 columns", "wider", laptop},
    {"Plain",
     [](auto& a) {
       a.screen.has_colors = false;
       a.screen.has_utf8 = false;
     },
     "terminal", kGood, "no colours, ASCII", "", laptop},
    // grading a class
    {"Box", [](auto&) {}, "sandbox", kGood, "bubblewrap 0.8.0", "", laptop},
    {"NoBox", [](auto& a) { a.sandbox.box.bubblewrap.clear(); }, "sandbox", kNone, "not installed", "install bubblewrap",
     laptop},
    {"AppArmor",
     [](auto& a) {
       a.sandbox.box.works = false;
       a.sandbox.box.trouble = "setting up uid map: Permission denied";
       a.sandbox.box.apparmor_restricts = true;
     },
     "sandbox", kNone, "uid map: Permission denied", "bwrap-userns-restrict", laptop},
    {"DebianSwitch",
     [](auto& a) {
       a.sandbox.box.works = false;
       a.sandbox.box.namespaces_for_root = true;
     },
     "sandbox", kNone, "cannot make a sandbox", "unprivileged_userns_clone=1", laptop},
    {"NoNamespaces",
     [](auto& a) {
       a.sandbox.box.works = false;
       a.sandbox.box.user_namespaces = 0;
     },
     "sandbox", kNone, "cannot make a sandbox", "user.max_user_namespaces", laptop},
    {"BoxInContainer",
     [](auto& a) {
       a.sandbox.box.works = false;
       a.sandbox.box.container = "docker";
     },
     "sandbox", kNone, "cannot make a sandbox", "on the host", laptop},
    {"NoBoxUnknown", [](auto& a) { a.sandbox.box.works = false; }, "sandbox", kNone, "cannot make a sandbox", "ask an administrator",
     laptop},
    {"Root", [](auto& a) { a.system.is_root = true; }, "account", kGood, "you are root", "", laptop},
    {"NothingRunsInBoxes",
     [](auto& a) {
       a.sandbox.runs = false;
       a.sandbox.run_text = "bwrap: Can't find source path chapters: Permission denied";
     },
     "sandbox", kNone, "nothing runs in it: bwrap", "readable for all users", laptop},
    // a cluster
    {"SlurmsNodes", [](auto& a) { a.slurm = cluster({{"n1", "idle", "none"}, {"n2", "mixed-", "none"}}); }, "slurm_nodes",
     kGood, "2 of 2 take tasks", "", laptop},
    {"NodeIsDown", [](auto& a) { a.slurm = cluster({{"n1", "idle", "none"}, {"n2", "down", "Duplicate jobid"}}); },
     "slurm_nodes", kNone, "1 of 2 take tasks: n2 down (Duplicate jobid)",
     "$ sudo scontrol update nodename=n2 state=resume\n", laptop},
    {"NodesAreDrained", [](auto& a) { a.slurm = cluster({{"n1", "drained", "disk"}, {"n2", "draining", "disk"}}); },
     "slurm_nodes", kNone, "0 of 2 take tasks: n1 drained (disk), n2 draining (disk)", "nodename=n1,n2 state", laptop},
    {"NodeIsSilent", [](auto& a) { a.slurm = cluster({{"n1", "idle*", "none"}}); }, "slurm_nodes", kNone,
     "0 of 1 take tasks: n1 idle*", "$ sudo systemctl restart slurmd\n", laptop},
    {"NodeIsInMaintenance", [](auto& a) { a.slurm = cluster({{"n1", "maint", "none"}}); }, "slurm_nodes", kNone,
     "n1 maint", "$ sinfo --list-reasons", laptop},
    {"NodesNamesAreNoCommands", [](auto& a) { a.slurm = cluster({{"n1;reboot", "down", "none"}}); }, "slurm_nodes", kNone,
     "n1;reboot down", "$ sinfo --list-reasons", laptop},
    {"NoNodes", [](auto& a) { a.slurm = cluster({}); }, "slurm_nodes", kNone, "knows none", "ask an administrator", laptop},
    {"SlurmIsSilent",
     [](auto& a) {
       a.slurm = cluster({});
       a.slurm.trouble = "no answer within 10 s";
     },
     "slurm_nodes", kNone, "does not answer: no answer within 10 s", "$ scontrol ping", laptop},
};

class FindingTest : public ::testing::TestWithParam<Case> {};

TEST_P(FindingTest, SaysWhatAndWhatToDo) {
  const Case& c = GetParam();
  Surroundings around = c.place();
  c.spoil(around);
  const auto findings = findings_of(around);
  const auto finding = find(findings, c.id);
  ASSERT_TRUE(finding);
  EXPECT_EQ(finding->condition, c.condition) << finding->what;
  EXPECT_THAT(finding->what, HasSubstr(c.what));
  if (*c.advice == '\0') {
    EXPECT_EQ(all_advice(*finding), "");
  } else {
    EXPECT_THAT(all_advice(*finding), HasSubstr(c.advice));
  }
  EXPECT_EQ(is_broken(findings), c.condition == kFail) << "one thing was spoilt";
}

INSTANTIATE_TEST_SUITE_P(Every, FindingTest, ::testing::ValuesIn(kCases),
                         [](const auto& each) { return std::string(each.param.name); });

// Each finding in each condition that occurs in a case's surroundings must be asked for by some case, except good ones
// with an id that the laptop has, too.
TEST(Findings, EachConditionOfEachHasACase) {
  std::set<std::pair<std::string, Condition>> asked, seen;
  for (const Case& c : kCases) {
    asked.emplace(c.id, c.condition);
    Surroundings around = c.place();
    c.spoil(around);
    for (const MachineFinding& finding : findings_of(around)) seen.emplace(finding.id, finding.condition);
  }
  for (const auto& [id, condition] : seen) {
    const bool is_plain = condition == kGood && find(findings_of(laptop()), id);
    EXPECT_TRUE(is_plain || asked.contains({id, condition})) << id;
  }
}

// Every tip and every failure gives advice, and no id occurs twice in one list.
TEST(Findings, HaveAdviceAndIdsOfTheirOwn) {
  for (const Case& c : kCases) {
    Surroundings around = c.place();
    c.spoil(around);
    std::set<std::string> ids;
    for (const MachineFinding& finding : findings_of(around)) {
      EXPECT_TRUE(ids.insert(finding.id).second) << c.name << ": " << finding.id;
      EXPECT_LT(finding.title.size(), 14u) << finding.title << " does not fit its column";
      EXPECT_FALSE(finding.what.empty() || finding.title.empty()) << c.name << ": " << finding.id;
      if (finding.condition != kTip && finding.condition != kFail) continue;
      EXPECT_NE(all_advice(finding), "") << c.name << ": " << finding.id;
    }
  }
}

TEST(Findings, RootIsNotToldToBecomeRoot) {
  Surroundings around = laptop();
  around.screen.gnuplot.clear();
  EXPECT_EQ(find(findings_of(around), "gnuplot")->advice.at(1), "$ sudo apt-get install gnuplot-nox");
  around.system.is_root = true;
  EXPECT_EQ(find(findings_of(around), "gnuplot")->advice.at(1), "$ apt-get install gnuplot-nox");
}

TEST(Findings, OfAGpuComeOnlyWhereOneCanMeasure) {
  Surroundings old = server();
  old.gpu.driver.cuda_version = 12040;
  for (const Surroundings& around : {laptop(), old}) {
    for (const MachineFinding& finding : findings_of(around)) {
      EXPECT_NE(finding.area, Area::counters) << finding.id;
      EXPECT_NE(finding.area, Area::sharing) << finding.id;
    }
  }
}

TEST(Findings, EveryGpuHasItsOwn) {
  Surroundings around = server();
  around.gpu.driver.gpus.push_back(h100());
  around.gpu.driver.gpus.push_back(h100());
  around.gpu.driver.gpus[1].state.processes = {{{.pid = 7}}};
  around.gpu.driver.gpus[2].major = 6;
  const auto findings = findings_of(around);
  EXPECT_THAT(all_advice(*find(findings, "gpu_1")), HasSubstr("--device cuda:1"));
  EXPECT_EQ(find(findings, "gpu_2")->condition, kNone);
  EXPECT_EQ(find(findings, "others_0")->condition, kGood);
  EXPECT_EQ(find(findings, "others_1")->condition, kTip);
  EXPECT_THAT(all_advice(*find(findings, "others_1")), HasSubstr("--device cuda:N"));
  EXPECT_FALSE(find(findings, "others_2")) << "what cannot be used is not looked at further";
}

}  // namespace
}  // namespace roofwalk
