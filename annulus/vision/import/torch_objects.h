// Finds the tensors in a PyTorch pickle, and reports its other objects.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "annulus/vision/import/pickle.h"
#include "annulus/vision/import/tensor_file.h"

namespace annulus {

// A sequence of elements that tensors refer to, as the pickle describes it; its bytes are elsewhere in the file.
struct TorchStorage {
  std::string key;
  NumberType type = NumberType::kFloat32;
  std::uint64_t elements = 0;
};

struct TorchObjects {
  std::map<std::string, StoredTensor> tensors;  // by dotted name; list elements are named by their index
  std::vector<TorchStorage> storages;           // the first indices of StoredTensor::storage
  // A list of whole numbers counts as a one-dimensional int64 tensor; their storages come after the others.
  std::vector<std::vector<std::int64_t>> integer_lists;
};

// Describes a storage whose bytes lie within the pickle, as Python's own pickle module writes a tensor. The key that it
// returns must be unique.
using EmbeddedStorage = std::function<TorchStorage(std::string_view bytes)>;

struct TorchObjectOptions {
  bool allow_inert_objects = false;  // pass over objects of unknown classes, and everything in them
  bool script = false;               // a TorchScript archive: the attributes of its modules are looked at
};

// Walks the document from its root. Objects of unknown classes make it throw Error{kFormat} that names the class, or
// are passed over; in neither case is anything run. Modules of TorchScript are names with attributes here: their code
// lies in other entries of the archive and is never read. Embedded storages are an unknown class unless `embedded` is
// given.
TorchObjects find_torch_objects(const PickleDocument& document, const std::string& source,
                                const TorchObjectOptions& options, const EmbeddedStorage& embedded = {});

}  // namespace annulus
