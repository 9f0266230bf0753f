// Maps PyTorch's rebuild calls and storage references to tensors.
#include "annulus/vision/import/torch_objects.h"

#include <algorithm>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <utility>

#include "annulus/base/error.h"

namespace annulus {
namespace {

constexpr std::size_t kMaximumDepth = 64;
constexpr std::size_t kMaximumAxes = 16;
constexpr std::size_t kMaximumNameLength = 1024;
constexpr std::size_t kMaximumNameBytes = std::size_t{64} << 20;

std::optional<NumberType> storage_type(std::string_view global) {
  static const std::map<std::string_view, NumberType> kTypes = {
      {"torch.DoubleStorage", NumberType::kFloat64},
      {"torch.FloatStorage", NumberType::kFloat32},
      {"torch.HalfStorage", NumberType::kFloat16},
      {"torch.BFloat16Storage", NumberType::kBfloat16},
      {"torch.LongStorage", NumberType::kInt64},
      {"torch.IntStorage", NumberType::kInt32},
      {"torch.ShortStorage", NumberType::kInt16},
      {"torch.CharStorage", NumberType::kInt8},
      {"torch.ByteStorage", NumberType::kUint8},
      {"torch.BoolStorage", NumberType::kBool},
      {"torch.storage.UntypedStorage", NumberType::kUint8},
  };
  const auto found = kTypes.find(global);
  return found == kTypes.end() ? std::nullopt : std::optional(found->second);
}

bool is_tensor_call(std::string_view global) {
  return global == "torch._utils._rebuild_tensor_v2" || global == "torch._utils._rebuild_tensor";
}
bool is_parameter_call(std::string_view global) {
  return global == "torch._utils._rebuild_parameter" || global == "torch._utils._rebuild_parameter_with_state";
}
// The function that Python would call with the bytes of a file that PyTorch wrote, here of one storage alone.
constexpr std::string_view kEmbeddedCall = "torch.storage._load_from_bytes";

// Names that carry no tensor and no behaviour: sizes, devices, number types, Python 2 byte strings.
bool is_plain_value(std::string_view global) {
  static const std::set<std::string_view> kPlain = {"collections.OrderedDict",
                                                    "torch.Size",
                                                    "torch.device",
                                                    "torch.float64",
                                                    "torch.float32",
                                                    "torch.float16",
                                                    "torch.bfloat16",
                                                    "torch.int64",
                                                    "torch.int32",
                                                    "torch.int16",
                                                    "torch.int8",
                                                    "torch.uint8",
                                                    "torch.bool",
                                                    "_codecs.encode",
                                                    "torch.strided",
                                                    "torch.serialization._get_layout"};
  return kPlain.contains(global);
}

// Classes of compiled modules, and the functions that restore typed lists of TorchScript.
bool is_script_module(std::string_view global) { return global.starts_with("__torch__."); }
bool is_script_name(std::string_view global) {
  return is_script_module(global) || global.starts_with("torch.jit._pickle.");
}

class Finder {
 public:
  Finder(const PickleDocument& document, const std::string& source, bool script, const EmbeddedStorage& embedded)
      : document_(document), source_(source), script_(script), embedded_(embedded) {}

  void reject_unknown_classes() const {
    for (const PickleNode& node : document_.nodes) {
      if (node.kind != PickleKind::kGlobal || is_plain_value(node.text) || is_tensor_call(node.text) ||
          is_parameter_call(node.text) || storage_type(node.text) || (embedded_ && node.text == kEmbeddedCall) ||
          (script_ && is_script_name(node.text))) {
        continue;
      }
      fail(ErrorKind::kFormat,
           "{}: expected only tensors, dicts, lists, numbers and strings, found {}; nothing was run, and inert objects "
           "can be allowed if they sit beside the weights",
           source_, node.text);
    }
  }

  TorchObjects find() {
    // All of them, also those inside skipped objects: the older format lists every storage.
    for (std::uint32_t i = 0; i < document_.nodes.size(); ++i) {
      if (node(i).kind == PickleKind::kPersistent) storage_of(i, "(unnamed)");
    }
    walk(document_.root, "", 0);
    for (auto& [name, tensor] : objects_.tensors) {
      if (integer_names_.contains(name)) tensor.storage += objects_.storages.size();
    }
    return std::move(objects_);
  }

 private:
  const PickleNode& node(std::uint32_t index) const { return document_.nodes[index]; }

  // Shared nodes can be reached along many paths; an honest file never has more paths than bytes.
  void spend_visit() {
    if (++visits_ > document_.size) fail(ErrorKind::kFormat, "{}: its objects refer to each other too often", source_);
  }

  void walk(std::uint32_t index, const std::string& name, std::size_t depth) {
    spend_visit();
    if (depth > kMaximumDepth || name.size() > kMaximumNameLength) {
      fail(ErrorKind::kFormat, "{}: its objects are nested deeper than {} levels or named in more than {} characters",
           source_, kMaximumDepth, kMaximumNameLength);
    }
    const auto children = document_.children_of(index);
    if (node(index).kind == PickleKind::kDict) {
      for (std::size_t i = 0; i + 1 < children.size(); i += 2) {
        if (const auto key = key_text(node(children[i]))) walk(children[i + 1], joined(name, *key), depth + 1);
      }
    } else if (node(index).kind == PickleKind::kList) {
      walk_list(children, name, depth);
    } else if (node(index).kind == PickleKind::kCall || node(index).kind == PickleKind::kObject) {
      walk_call(children, name, depth);
    }
  }

  void walk_list(std::span<const std::uint32_t> children, const std::string& name, std::size_t depth) {
    const auto is_integer = [&](std::uint32_t child) { return node(child).kind == PickleKind::kInteger; };
    if (!children.empty() && std::all_of(children.begin(), children.end(), is_integer)) {
      visits_ += children.size() - 1;
      spend_visit();
      std::vector<std::int64_t> values;
      for (const std::uint32_t child : children) values.push_back(node(child).integer);
      StoredTensor tensor{NumberType::kInt64, {static_cast<std::int64_t>(values.size())}, {1}, 0, 0};
      tensor.storage = objects_.integer_lists.size();
      objects_.integer_lists.push_back(std::move(values));
      integer_names_.insert(name);
      add(name, std::move(tensor));
      return;
    }
    for (std::size_t i = 0; i < children.size(); ++i) walk(children[i], joined(name, std::to_string(i)), depth + 1);
  }

  void walk_call(std::span<const std::uint32_t> call, const std::string& name, std::size_t depth) {
    if (call.size() < 2 || node(call[0]).kind != PickleKind::kGlobal) return;
    const auto arguments = document_.children_of(call[1]);
    const std::string_view callable = node(call[0]).text;
    if (is_parameter_call(callable) && !arguments.empty()) walk(arguments[0], name, depth + 1);
    if (is_tensor_call(callable)) add(name, tensor_of(arguments, name));
    if (script_ && is_script_module(callable) && call.size() > 2) walk(call[2], name, depth + 1);
  }

  void add(const std::string& name, StoredTensor tensor) {
    name_bytes_ += name.size();
    if (name_bytes_ > kMaximumNameBytes) fail(ErrorKind::kFormat, "{}: its tensor names are too long", source_);
    objects_.tensors.insert_or_assign(name, std::move(tensor));
  }

  std::vector<std::int64_t> integers(std::uint32_t index, const std::string& name) const {
    // torch.Size is a call on a tuple.
    if (node(index).kind == PickleKind::kCall) {
      const auto call = document_.children_of(index);
      const auto arguments = call.size() >= 2 ? document_.children_of(call[1]) : call.first(0);
      if (arguments.size() == 1) index = arguments[0];
    }
    std::vector<std::int64_t> values;
    for (const std::uint32_t child : document_.children_of(index)) values.push_back(integer(child, name));
    return values;
  }

  std::int64_t integer(std::uint32_t index, const std::string& name) const {
    if (node(index).kind != PickleKind::kInteger || node(index).integer < 0) broken(name);
    return node(index).integer;
  }

  StoredTensor tensor_of(std::span<const std::uint32_t> arguments, const std::string& name) {
    if (arguments.size() < 4) broken(name);
    StoredTensor tensor;
    if (node(arguments[0]).kind == PickleKind::kPersistent) {
      tensor.storage = storage_of(arguments[0], name);
    } else {
      tensor.storage = embedded_storage_of(arguments[0], name);
    }
    const TorchStorage& storage = objects_.storages[tensor.storage];
    tensor.type = storage.type;
    tensor.offset = static_cast<std::size_t>(integer(arguments[1], name));
    tensor.shape = integers(arguments[2], name);
    tensor.stride = integers(arguments[3], name);
    if (tensor.shape.size() != tensor.stride.size() || tensor.shape.size() > kMaximumAxes) broken(name);
    if (element_count(tensor.shape, source_ + ", tensor " + name) == 0) return tensor;
    std::uint64_t last = tensor.offset;
    for (std::size_t axis = 0; axis < tensor.shape.size(); ++axis) {
      std::uint64_t reach = 0;
      if (__builtin_mul_overflow(static_cast<std::uint64_t>(tensor.shape[axis] - 1),
                                 static_cast<std::uint64_t>(tensor.stride[axis]), &reach) ||
          __builtin_add_overflow(last, reach, &last)) {
        broken(name);
      }
    }
    if (last >= storage.elements) {
      fail(ErrorKind::kFormat, "{}: tensor {} of shape {} reaches element {} of a storage of {}", source_, name,
           dimensions_text(tensor.shape), last, storage.elements);
    }
    return tensor;
  }

  // The id is ("storage", type, key, device, elements[, view]); a view of another storage has not been written since
  // 2017.
  std::size_t storage_of(std::uint32_t index, const std::string& name) {
    const auto id = document_.children_of(document_.children_of(index)[0]);
    if (id.size() < 5 || node(id[0]).text != "storage" || node(id[1]).kind != PickleKind::kGlobal ||
        node(id[2]).kind != PickleKind::kString || (id.size() > 5 && node(id[5]).kind != PickleKind::kNone)) {
      broken(name);
    }
    const auto type = storage_type(node(id[1]).text);
    if (!type) {
      fail(ErrorKind::kFormat, "{}: tensor {} has elements of the unsupported kind {}", source_, name,
           node(id[1]).text);
    }
    return add_storage({std::string(node(id[2]).text), *type, static_cast<std::uint64_t>(integer(id[4], name))});
  }

  // A call of kEmbeddedCall with the bytes; tensors that share a storage share the bytes.
  std::size_t embedded_storage_of(std::uint32_t index, const std::string& name) {
    const auto call = document_.children_of(index);
    if (!embedded_ || node(index).kind != PickleKind::kCall || call.size() < 2 || node(call[0]).text != kEmbeddedCall) {
      broken(name);
    }
    const auto arguments = document_.children_of(call[1]);
    if (arguments.size() != 1 || node(arguments[0]).kind != PickleKind::kString) broken(name);
    const std::string_view bytes = node(arguments[0]).text;
    const auto found = embedded_index_.find(bytes.data());
    if (found != embedded_index_.end()) return found->second;
    return embedded_index_[bytes.data()] = add_storage(embedded_(bytes));
  }

  std::size_t add_storage(const TorchStorage& storage) {
    const auto [found, added] = storage_index_.try_emplace(storage.key, objects_.storages.size());
    if (added) {
      objects_.storages.push_back(storage);
    } else if (objects_.storages[found->second].type != storage.type ||
               objects_.storages[found->second].elements != storage.elements) {
      fail(ErrorKind::kFormat, "{}: storage {} is described in two ways", source_, storage.key);
    }
    return found->second;
  }

  [[noreturn]] void broken(const std::string& name) const {
    fail(ErrorKind::kFormat, "{}: the description of tensor {} makes no sense", source_, name);
  }

  static std::optional<std::string> key_text(const PickleNode& key) {
    if (key.kind == PickleKind::kString) return std::string(key.text.substr(0, kMaximumNameLength + 1));
    if (key.kind == PickleKind::kInteger) return std::to_string(key.integer);
    return std::nullopt;
  }
  static std::string joined(const std::string& name, const std::string& key) {
    return name.empty() ? key : name + "." + key;
  }

  const PickleDocument& document_;
  const std::string& source_;
  bool script_;
  const EmbeddedStorage& embedded_;
  std::map<const char*, std::size_t> embedded_index_;
  TorchObjects objects_;
  std::map<std::string, std::size_t> storage_index_;
  std::set<std::string> integer_names_;
  std::size_t visits_ = 0;
  std::size_t name_bytes_ = 0;
};

}  // namespace

TorchObjects find_torch_objects(const PickleDocument& document, const std::string& source,
                                const TorchObjectOptions& options, const EmbeddedStorage& embedded) {
  Finder finder(document, source, options.script, embedded);
  if (!options.allow_inert_objects) finder.reject_unknown_classes();
  return finder.find();
}

}  // namespace annulus
