// A learner's file becomes an Artifact: nvcc to PTX, ptxas for resources, both cached by content.
#pragma once

#include <filesystem>
#include <string>

#include "common/base/result.h"
#include "common/build/artifact.h"
#include "common/sandbox/box.h"

namespace roofwalk {

struct Toolkit {
  std::filesystem::path root;             // holds bin/nvcc
  std::string version;                    // "13.0.88"
  Isolation isolation = Isolation::none;  // of its compilers
};

// The CUDA toolkit that the set-up chose: $ROOFWALK_CUDA, else the first nvcc 13 or later on the PATH, in $CUDA_HOME,
// $CUDA_PATH, /usr/local/cuda, /opt/cuda or the project's own .venv/cuda. An older nvcc, wherever it stands, is passed
// over. Errors say what was found and what to run.
Result<Toolkit> find_toolkit(const std::filesystem::path& project_root);

struct BuildRequest {
  std::filesystem::path source;        // my/vector-add.cu
  std::string arch;                    // "compute_80"
  std::filesystem::path include;       // the folder of roofwalk.cuh
  std::filesystem::path cache;         // folder of artifacts by content
  double timeout_s = 60;               // for each of the two compilers
  std::filesystem::path headers = {};  // a folder of more headers, for kernels of our own; empty: none
};

// Compiles, or takes the artifact from the cache (under a millisecond). The source is copied under a fixed name to a
// private folder first, with the headers of `include` beside it: PTX and messages do not depend on where the checkout
// lies, and no learner's file name reaches a compiler. The compilers get a clean environment and limits of time, memory
// and output; in a box (Toolkit::isolation) they also see nothing of this machine but themselves and the system's
// headers, and nothing but PTX and machine code comes out.
// Errors: a file that is no kernel file (missing, empty, binary, too large, without SOLVE); compile errors, whose
// message is nvcc's own, cut to the learner's lines: the first one is `file`, `line` and the first line of `message`,
// further ones follow, indented, as "source_path:line: ..."; one sentence of advice where the cause is that SOLVE is
// device code; a compiler that ran out of time or memory; more shared memory in a kernel than CUDA allows; no box
// can be made (without `file`: that is not about the learner's).
// A cache that cannot be written is no error.
Result<Artifact> build(const Toolkit& toolkit, const BuildRequest& request);

}  // namespace roofwalk
