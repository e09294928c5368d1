// The findings of each area; findings_of() combines them.
#pragma once

#include "grader/doctor/findings.h"

namespace roofwalk {

class FindingList {
 public:
  FindingList(Area area, std::vector<MachineFinding>& findings) : area_(area), findings_(findings) {}

  using Advice = std::vector<std::string>;
  void ok(std::string id, std::string title, std::string what, Advice advice = {}) {
    add(Condition::ok, std::move(id), std::move(title), std::move(what), std::move(advice));
  }
  void could_be_better(std::string id, std::string title, std::string what, Advice advice) {
    add(Condition::could_be_better, std::move(id), std::move(title), std::move(what), std::move(advice));
  }
  void broken(std::string id, std::string title, std::string what, Advice advice) {
    add(Condition::broken, std::move(id), std::move(title), std::move(what), std::move(advice));
  }
  void not_here(std::string id, std::string title, std::string what, Advice advice = {}) {
    add(Condition::not_here, std::move(id), std::move(title), std::move(what), std::move(advice));
  }

 private:
  void add(Condition condition, std::string id, std::string title, std::string what, Advice advice) {
    findings_.push_back({std::move(id), area_, condition, std::move(title), std::move(what), std::move(advice)});
  }

  Area area_;
  std::vector<MachineFinding>& findings_;
};

void add_machine(const Surroundings& around, FindingList list);
void add_toolkit(const Surroundings& around, FindingList list);
void add_gpu(const Surroundings& around, FindingList list);
void add_counters(const Surroundings& around, FindingList list);
void add_sharing(const Surroundings& around, FindingList list);
void add_plots(const Surroundings& around, FindingList list);
void add_grading(const Surroundings& around, FindingList list);
void add_slurm(const Surroundings& around, FindingList list);

// Whether the driver is new enough and shows a GPU that the toolkit compiles for.
bool can_measure(const Surroundings& around);
bool can_measure(const Surroundings& around, const ProbedGpu& gpu);

}  // namespace roofwalk
