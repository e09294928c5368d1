// The facts that `doctor` uses, as plain values: look_around() collects them, findings_of() judges them, tests invent
// them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/build/build.h"
#include "common/device/cuda/driver/driver_probe.h"
#include "common/sandbox/probe.h"
#include "grader/course/course.h"

namespace roofwalk {

// A text is empty if the thing it describes does not exist. Texts are made harmless only when they are printed.
struct Surroundings {
  struct System {
    std::string name;       // "Debian GNU/Linux 12 (bookworm)"
    int wsl = 0;            // 1 or 2 inside the Windows Subsystem for Linux
    std::string container;  // "docker", "podman", "lxc", ...
    std::string slurm_job;  // number of the Slurm job
    bool is_root = false;
    double cores = 0;  // cores that this process may use: in a container or job fewer than the machine has, and not
                       // always a whole number
    std::uint64_t memory_bytes = 0;
  } system;

  struct Storage {
    std::uint64_t free_bytes = 0;
    std::vector<std::string> unwritable;  // folders of the course that cannot be written
    std::string network;                  // "NFS", "SMB", ... if my/ is on a network file system; "Windows" for a
                                          // Windows folder
  } storage;

  struct Tools {
    std::string compiler;  // the first line of c++ --version
    Result<Toolkit> toolkit = Error{"no toolkit was looked for"};
    std::string ptxas_version;  // "13.0.88"
    std::string cupti_library;  // path of the CUPTI library
    std::optional<bool> runs;   // whether the first chapter's starter ran and was right; nullopt: not tried
    std::string run_text;       // the outcome
  } tools;

  struct Gpu {
    int on_the_bus = 0;         // NVIDIA GPUs among the PCI devices
    std::string kernel_module;  // version of the driver's kernel module: "580.65.06"
    DriverProbe driver;
    std::string visible_devices;  // CUDA_VISIBLE_DEVICES
    bool hides_all = false;       // whether CUDA_VISIBLE_DEVICES hides every GPU
    std::optional<bool> counters_for_admins_only;
    bool may_administer = false;  // CAP_SYS_ADMIN
    bool may_monitor = false;     // CAP_PERFMON
    bool has_mps = false;         // NVIDIA's multi-process service is running
    bool sees_host_pids = true;
  } gpu;

  struct Screen {
    std::string gnuplot;                    // "gnuplot 5.4 patchlevel 4"
    std::set<std::string> gnuplot_formats;  // formats that gnuplot can write (its terminals)
    std::string font;                       // the family that "sans" stands for
    bool is_terminal = false, has_colors = false, has_utf8 = false;
    int columns = 80;
  } screen;

  struct Sandbox {
    BoxFacts box;
    std::optional<bool> runs;  // whether a kernel was compiled and run in boxes, and was right; nullopt: not tried
    std::string run_text;      // the outcome
  } sandbox;

  struct Slurm {
    struct Node {
      std::string name, state, reason;  // Slurm's words
    };
    bool is_here = false;  // whether sinfo is on the PATH
    std::string trouble;   // why sinfo told nothing
    std::vector<Node> nodes;
  } slurm;
};

// All facts except the results of running the course's own kernel (tools.runs, sandbox.runs). Takes a second or two
// and changes nothing. It forks, so call it before the program starts threads.
Surroundings look_around(const Course& course);

// Asks Slurm for its nodes, and gives up after `timeout_s`: a controller that is ill may never answer.
Surroundings::Slurm slurm_around(double timeout_s);

// Reads the output of sinfo --Node --format=%N|%T|%E. A node in several partitions is one node.
std::vector<Surroundings::Slurm::Node> slurm_nodes(const std::string& output);

}  // namespace roofwalk
