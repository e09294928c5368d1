// Submissions on their way to the tasks of a Slurm job, and answers on their way back: files in a folder that all nodes
// see. A task may run twice (requeued), be killed in the middle, or be read before its last bytes arrive; so an answer
// is one file, renamed into its place and checked by its hash.
//   arrays/NAME/<task>.json   the units of one task of the job NAME
//   sources/                  the submitted files, named by the hash of their bytes
//   results/<unit>.json       the answers
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "common/base/json.h"
#include "common/base/result.h"
#include "grader/class/batch/worker.h"

namespace roofwalk {

// One submission to grade. Its job's folder is empty: the task makes one on its node.
struct Unit {
  std::string name;  // the grade's key and round; names the answer's file
  std::string source_sha256;
  std::string file_name;            // of the submission in the job's folder
  Json job;                         // of to_json(Job)
  std::string program_sha256 = {};  // of the program that submitted it; no other program grades it
};

class UnitFolder {
 public:
  explicit UnitFolder(std::filesystem::path root) : root_(std::move(root)) {}

  const std::filesystem::path& root() const { return root_; }
  std::filesystem::path array(const std::string& name) const { return root_ / "arrays" / name; }
  std::filesystem::path source(const std::string& sha256) const { return root_ / "sources" / (sha256 + ".cu"); }
  std::filesystem::path result(const std::string& unit) const { return root_ / "results" / (unit + ".json"); }

  // Makes the folders, readable by this user alone: jobs hold hidden seeds. Errors: they cannot be made; what is there
  // is a link or another user's, since many may write beside it.
  Status make() const;

  Status write(const std::string& array, std::size_t task, const std::vector<Unit>& units) const;
  // Errors: there is no such file, or it is damaged.
  Result<std::vector<Unit>> read(const std::string& array, std::size_t task) const;

  // The names of the arrays, and the tasks of one, in order.
  std::vector<std::string> arrays() const;
  std::vector<std::size_t> tasks(const std::string& array) const;

  // The names of the units that have an answer.
  std::vector<std::string> answered() const;
  // The answer, or the fault because of which there is none. nullopt: the file is torn or damaged.
  std::optional<Result<Json>> answer(const std::string& unit) const;
  Status write_answer(const std::string& unit, const Result<Json>& answer) const;

 private:
  std::filesystem::path root_;
};

// Grades the units of a task that have no answer yet, one after the other, each in a worker process. A fault of a
// worker is an answer, and so is that `program` is another one than submitted the unit: it may have been built anew
// since then. Errors: the units cannot be read, or an answer cannot be written.
Status run_task(const UnitFolder& folder, const std::string& array, std::size_t task,
                const std::filesystem::path& program, const WorkerLimits& limits);

}  // namespace roofwalk
