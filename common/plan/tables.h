// The tables that SOLVE may read: variables in device memory that hold their initial value for good, such as a `static
// constexpr` array, because no kernel of the file writes them. SOLVE reads all other device memory at its peril: a plan
// is made before any kernel has run.
#pragma once

#include <vector>

#include "common/ptx/module.h"

namespace roofwalk {

// Returns the tables that SOLVE, or a function that it calls, names. Left out: variables that a kernel writes, or whose
// address it hands on (to a function, to memory), and string literals whose address is taken, which SOLVE hands to
// kernels as null pointers.
std::vector<const ptx::Variable*> tables_of(const ptx::Module& module, const ptx::Function& solve);

}  // namespace roofwalk
