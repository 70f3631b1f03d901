// A second device whose memory is the host's: PyTorch's private-use device, with the kernels of the CPU.
//
// Every operator runs on CPU tensors that lie in the very memory of the arguments. So strides, views, aliasing and
// writes in place are real, and values are those of the CPU. What only a GPU has is not here: streams,
// asynchronous errors, other rounding.

#include <ATen/Context.h>
#include <ATen/core/Tensor.h>
#include <ATen/detail/PrivateUse1HooksInterface.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <c10/core/impl/alloc_cpu.h>
#include <torch/library.h>

#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

namespace {

const c10::Device SECOND(c10::DeviceType::PrivateUse1, 0);
const c10::Device CPU(c10::DeviceType::CPU);

// --- what a backend registers ---

struct Memory final : c10::Allocator {
  c10::DataPtr allocate(size_t bytes) override {
    void* data = bytes ? c10::alloc_cpu(bytes) : nullptr;
    return {data, data, &c10::free_cpu, SECOND};
  }
  c10::DeleterFnPtr raw_deleter() const override {
    return &c10::free_cpu;
  }
  void copy_data(void* to, const void* from, std::size_t bytes) const override {
    default_copy_data(to, from, bytes);
  }
};

Memory memory;
REGISTER_ALLOCATOR(c10::DeviceType::PrivateUse1, &memory);

// There is one stream, and nothing is asynchronous: an event has happened when it is recorded. The backward pass
// records events, and looks streams up by the index of their device.
struct Guard final : c10::impl::NoOpDeviceGuardImpl<c10::DeviceType::PrivateUse1> {
  c10::Device exchangeDevice(c10::Device) const override {
    return SECOND;
  }
  c10::Device getDevice() const override {
    return SECOND;
  }
  c10::Stream getStream(c10::Device) const noexcept override {
    return c10::Stream(c10::Stream::DEFAULT, SECOND);
  }
  c10::Stream getNewStream(c10::Device, int) const override {
    return c10::Stream(c10::Stream::DEFAULT, SECOND);
  }
  c10::Stream exchangeStream(c10::Stream) const noexcept override {
    return c10::Stream(c10::Stream::DEFAULT, SECOND);
  }
  void record(void**, const c10::Stream&, const c10::DeviceIndex, const c10::EventFlag) const override {}
  void block(void*, const c10::Stream&) const override {}
  bool queryEvent(void*) const override {
    return true;
  }
  void synchronizeEvent(void*) const override {}
};

C10_REGISTER_GUARD_IMPL(PrivateUse1, Guard);

struct Hooks final : at::PrivateUse1HooksInterface {
  bool isBuilt() const override {
    return true;
  }
  bool isAvailable() const override {
    return true;
  }
  bool hasPrimaryContext(c10::DeviceIndex) const override {
    return true;
  }
  const at::Generator& getDefaultGenerator(c10::DeviceIndex) const override {
    return at::globalContext().defaultGenerator(CPU);
  }
  void resizePrivateUse1Bytes(const c10::Storage& storage, size_t bytes) const override {
    c10::DataPtr data = memory.allocate(bytes);
    std::memcpy(data.get(), storage.data(), std::min(bytes, storage.nbytes()));
    storage.set_data_ptr_noswap(std::move(data));
    storage.set_nbytes(bytes);
  }
};

[[maybe_unused]] const bool registered = (at::RegisterPrivateUse1HooksInterface(new Hooks), true);

// --- running an operator on the CPU, in the same memory ---

class Twins {
 public:
  // Returns the CPU's twin of what is on the second device; anything else as it is.
  c10::IValue to_cpu(const c10::IValue& value) {
    if (value.isTensor()) {
      return to_cpu(value.toTensor());
    }
    if (value.isTensorList()) {
      c10::List<at::Tensor> list;
      for (const at::Tensor& each : value.toTensorVector()) {
        list.push_back(to_cpu(each));
      }
      return list;
    }
    if (value.isOptionalTensorList()) {
      c10::List<std::optional<at::Tensor>> list;
      for (const std::optional<at::Tensor>& each : value.toOptionalTensorVector()) {
        list.push_back(each.has_value() ? std::make_optional(to_cpu(*each)) : std::nullopt);
      }
      return list;
    }
    if (value.isDevice() && value.toDevice().type() == SECOND.type()) {
      return CPU;
    }
    if (value.isStorage() && value.toStorage().device_type() == SECOND.type()) {
      return to_cpu(value.toStorage());
    }
    return value;
  }

  // The reverse, for results; a CPU tensor that was an argument stays one.
  c10::IValue to_second(const c10::IValue& value) {
    if (value.isTensor()) {
      return to_second(value.toTensor());
    }
    if (value.isTensorList()) {
      c10::List<at::Tensor> list;
      for (const at::Tensor& each : value.toTensorVector()) {
        list.push_back(to_second(each));
      }
      return list;
    }
    return value;
  }

  // Gives arguments the sizes, strides and memory that the operator has given their twins.
  void settle() {
    for (const auto& [second, cpu] : storages_) {
      if (second.data() != cpu.data() || second.nbytes() != cpu.nbytes()) {
        second.set_data_ptr_noswap(owning(cpu));
        second.set_nbytes(cpu.nbytes());
      }
    }
    for (size_t i = 0; i < tensors_.size(); ++i) {
      const at::Tensor second = tensors_[i].first, cpu = tensors_[i].second;
      c10::TensorImpl* impl = second.unsafeGetTensorImpl();
      const c10::Storage storage = to_second(cpu.storage());
      if (!storage.is_alias_of(second.storage())) {
        impl->set_storage_keep_dtype(storage);
      }
      if (second.sizes() != cpu.sizes() || second.strides() != cpu.strides() ||
          second.storage_offset() != cpu.storage_offset()) {
        impl->set_sizes_and_strides(cpu.sizes(), cpu.strides(), cpu.storage_offset());
      }
    }
  }

  bool on_cpu = false; // whether an argument with dimensions is on the CPU

  at::Tensor to_cpu(const at::Tensor& tensor) {
    if (!tensor.defined() || tensor.device().type() != SECOND.type()) {
      on_cpu = on_cpu || (tensor.defined() && tensor.device().is_cpu() && tensor.dim() > 0);
      others_.push_back(tensor);
      return tensor;
    }
    TORCH_CHECK_NOT_IMPLEMENTED(tensor.layout() == at::kStrided, "the second device has strided tensors only");
    for (const auto& [second, cpu] : tensors_) {
      if (second.is_same(tensor)) {
        return cpu;
      }
    }
    at::Tensor twin = made(to_cpu(tensor.storage()), c10::DispatchKey::CPU, tensor);
    tensors_.emplace_back(tensor, twin);
    return twin;
  }

 private:
  at::Tensor to_second(const at::Tensor& tensor) {
    if (!tensor.defined() || !tensor.device().is_cpu()) {
      return tensor;
    }
    for (const auto& [second, cpu] : tensors_) {
      if (cpu.is_same(tensor)) {
        return second;
      }
    }
    for (const at::Tensor& other : others_) {
      if (other.is_same(tensor)) {
        return tensor;
      }
    }
    return made(to_second(tensor.storage()), c10::DispatchKey::PrivateUse1, tensor);
  }

  static at::Tensor made(c10::Storage storage, c10::DispatchKey key, const at::Tensor& like) {
    at::Tensor tensor = at::detail::make_tensor<c10::TensorImpl>(
        std::move(storage), c10::DispatchKeySet(key), like.dtype());
    c10::TensorImpl* impl = tensor.unsafeGetTensorImpl();
    impl->set_sizes_and_strides(like.sizes(), like.strides(), like.storage_offset());
    if (like.unsafeGetTensorImpl()->is_wrapped_number()) {
      impl->set_wrapped_number(true);
    }
    tensor._set_conj(like.is_conj());
    tensor._set_neg(like.is_neg());
    return tensor;
  }

  c10::Storage to_cpu(const c10::Storage& storage) {
    for (const auto& [second, cpu] : storages_) {
      if (second.is_alias_of(storage)) {
        return cpu;
      }
    }
    c10::DataPtr borrowed(storage.mutable_data(), CPU);
    c10::Storage twin(
        c10::Storage::use_byte_size_t(), storage.nbytes(), std::move(borrowed), c10::GetAllocator(c10::DeviceType::CPU), true);
    storages_.emplace_back(storage, twin);
    return twin;
  }

  c10::Storage to_second(const c10::Storage& storage) {
    for (const auto& [second, cpu] : storages_) {
      if (cpu.is_alias_of(storage)) {
        return second;
      }
    }
    c10::Storage made(c10::Storage::use_byte_size_t(), storage.nbytes(), owning(storage), &memory, true);
    storages_.emplace_back(made, storage);
    return made;
  }

  // The data of a CPU storage, for one of the second device that keeps it alive.
  static c10::DataPtr owning(const c10::Storage& storage) {
    auto* kept = new c10::Storage(storage);
    return {storage.mutable_data(), kept, [](void* it) { delete static_cast<c10::Storage*>(it); }, SECOND};
  }

  std::vector<std::pair<c10::Storage, c10::Storage>> storages_;
  std::vector<std::pair<at::Tensor, at::Tensor>> tensors_;
  std::vector<at::Tensor> others_;
};

// What takes indices of either device.
const std::unordered_set<std::string> BETWEEN_DEVICES = {
    "aten::index", "aten::index_put_", "aten::_index_put_impl_", "aten::_unsafe_index"};

void on_second(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  const size_t given = op.schema().arguments().size(), returned = op.schema().returns().size();
  Twins twins;
  for (size_t i = stack->size() - given; i < stack->size(); ++i) {
    (*stack)[i] = twins.to_cpu((*stack)[i]);
  }
  TORCH_CHECK(
      !twins.on_cpu || BETWEEN_DEVICES.count(op.schema().name()),
      "Expected all tensors to be on the same device, but found at least two devices, second and cpu! (", op.schema().name(), ")");
  {
    const c10::impl::ExcludeDispatchKeyGuard no_autograd(c10::autograd_dispatch_keyset_with_ADInplaceOrView);
    op.callBoxed(stack);
  }
  for (size_t i = stack->size() - returned; i < stack->size(); ++i) {
    (*stack)[i] = twins.to_second((*stack)[i]);
  }
  twins.settle();
}

// What copy_ calls if the one or the other is not on the CPU.
at::Tensor copy_from(const at::Tensor& from, const at::Tensor& to, bool) {
  Twins twins;
  const c10::impl::ExcludeDispatchKeyGuard no_autograd(c10::autograd_dispatch_keyset_with_ADInplaceOrView);
  twins.to_cpu(to).copy_(twins.to_cpu(from));
  return to;
}

at::Tensor copy_from_and_resize(const at::Tensor& from, const at::Tensor& to) {
  to.resize_(from.sizes());
  return copy_from(from, to, false);
}

} // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("_copy_from", &copy_from);
  m.impl("_copy_from_and_resize", &copy_from_and_resize);
}

// The CPU's copy_ sees to these bits; otherwise they would be resolved by a clone, which copies in its turn.
TORCH_LIBRARY_IMPL(aten, Conjugate, m) {
  m.impl("_copy_from", torch::CppFunction::makeFallthrough());
}

TORCH_LIBRARY_IMPL(aten, Negative, m) {
  m.impl("_copy_from", torch::CppFunction::makeFallthrough());
}

TORCH_LIBRARY_IMPL(_, PrivateUse1, m) {
  m.fallback(torch::CppFunction::makeFromBoxedFunction<&on_second>());
}
