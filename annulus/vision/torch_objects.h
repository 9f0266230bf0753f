// Finds the tensors in what PyTorch pickled, and says which other objects it holds.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "annulus/vision/pickle.h"
#include "annulus/vision/tensor_file.h"

namespace annulus {

// A run of elements that tensors look into, as the pickle describes it; its bytes are elsewhere in the file.
struct TorchStorage {
  std::string key;
  NumberType type = NumberType::kFloat32;
  std::uint64_t elements = 0;
};

struct TorchObjects {
  std::map<std::string, StoredTensor> tensors;  // by dotted name; list elements are named by their index
  std::vector<TorchStorage> storages;           // what StoredTensor::storage counts, first part
  // A list of whole numbers counts as a one-dimensional int64 tensor; their storages come after the others.
  std::vector<std::vector<std::int64_t>> integer_lists;
};

// Describes a storage whose bytes lie within the pickle, which is what Python's own pickle module makes of a tensor.
// The key it answers with must be of its own.
using EmbeddedStorage = std::function<TorchStorage(std::string_view bytes)>;

// Walks the document from its root. Objects of unknown classes make it throw Error{kFormat} that names the class, or,
// with allow_inert_objects, are passed over with everything in them; in neither case is anything run.
// Embedded storages are such an unknown class unless `embedded` is given.
TorchObjects find_torch_objects(const PickleDocument& document, const std::string& source, bool allow_inert_objects,
                                const EmbeddedStorage& embedded = {});

}  // namespace annulus
