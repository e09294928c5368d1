// Builds a learner's file into an Artifact: nvcc for PTX, ptxas for resources, both cached by content.
#pragma once

#include <filesystem>
#include <string>

#include "common/base/result.h"
#include "common/build/artifact.h"
#include "common/sandbox/box.h"

namespace roofwalk {

struct Toolkit {
  std::filesystem::path root;             // contains bin/nvcc
  std::string version;                    // "13.0.88"
  Isolation isolation = Isolation::none;  // for the compilers
};

// Finds the CUDA toolkit: $ROOFWALK_CUDA, else the first nvcc 13 or later on the PATH, in $CUDA_HOME, $CUDA_PATH,
// /usr/local/cuda, /opt/cuda or the project's own .venv/cuda. Older versions are skipped. Errors say which toolkit was
// found and what to run.
Result<Toolkit> find_toolkit(const std::filesystem::path& project_root);

// The limit that normally ends a compiler is processor time (kCompileLimits), which does not depend on the machine's
// load. This wall time only ends a compiler that hangs: it is more than the limits of all of nvcc's processes together.
inline constexpr double kCompilerWallSeconds = 300;

struct BuildRequest {
  std::filesystem::path source;             // my/vector-add.cu
  std::string arch;                         // "compute_80"
  std::filesystem::path include;            // the folder of roofwalk.cuh
  std::filesystem::path cache;              // folder of artifacts by content
  double timeout_s = kCompilerWallSeconds;  // for each of the two compilers
  std::filesystem::path headers = {};       // a folder of additional headers, for this program's own kernels; empty:
                                            // none
};

// Compiles, or takes the artifact from the cache (under a millisecond). The source is first copied under a fixed name
// to a private folder, next to the headers of `include`: PTX and messages do not depend on the checkout's path, and no
// learner's file name reaches a compiler. The compilers run with a clean environment and limits on time, memory and
// output. In a box (Toolkit::isolation) they can read only these files, the toolkit and the system's programs,
// libraries and headers, and only PTX and machine code comes out.
// Errors:
// - not a kernel file: missing, empty, binary, too large, or without SOLVE
// - compile errors, in nvcc's own words, reduced to the learner's lines: the first one sets `file`, `line` and the
//   first line of `message`; further ones follow, indented, as "source_path:line: ..."; with advice where the cause is
//   that SOLVE is device code
// - a compiler ran out of processor time or memory
// - a compiler did not end within `timeout_s` (without `file`: the machine is too busy)
// - a compiler cannot run on this machine at all, is killed, or finds the disk full (without `file`)
// - a kernel declares more shared memory than CUDA allows
// - no box can be made (without `file`: it is not the learner's fault)
// Failing to write to the cache is not an error.
Result<Artifact> build(const Toolkit& toolkit, const BuildRequest& request);

}  // namespace roofwalk
