// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Bytes that do not change, and who lets go of them.
#include <cstdlib>
#include <cstring>

#include "dispatch_objects.hpp"

@interface OS_dispatch_data : OS_dispatch_object <OS_dispatch_data> {
 @public
  const void* bytes_;
  size_t size_;
  dispatch_queue_t queue_;
  dispatch_block_t destructor_;
}
@end
@implementation OS_dispatch_data
// On a Mac, dispatch data is also NSData.
- (NSUInteger)length {
  return size_;
}
- (const void*)bytes {
  return bytes_;
}
- (void)dealloc {
  if (destructor_ == DISPATCH_DATA_DESTRUCTOR_FREE) {
    free(const_cast<void*>(bytes_));
  } else if (destructor_) {
    if (queue_)
      dispatch_async(queue_, destructor_);
    else
      destructor_();
    Block_release(destructor_);
  }
  [queue_ release];
  [super dealloc];
}
@end
const dispatch_block_t dispatch_data_destructor_free_ = ^{
};
dispatch_data_t dispatch_data_create(const void* bytes, size_t size, dispatch_queue_t queue, dispatch_block_t destructor) {
  OS_dispatch_data* made = [OS_dispatch_data new];
  made->size_ = size;
  if (destructor == DISPATCH_DATA_DESTRUCTOR_DEFAULT) {
    void* copy = malloc(size + 1);
    if (size != 0) memcpy(copy, bytes, size);
    made->bytes_ = copy;
    made->destructor_ = DISPATCH_DATA_DESTRUCTOR_FREE;
    return made;
  }
  made->bytes_ = bytes;
  made->queue_ = [queue retain];
  made->destructor_ = destructor == DISPATCH_DATA_DESTRUCTOR_FREE ? destructor : Block_copy(destructor);
  return made;
}
size_t dispatch_data_get_size(dispatch_data_t data) { return static_cast<OS_dispatch_data*>(data)->size_; }
dispatch_data_t dispatch_data_create_map(dispatch_data_t of, const void** bytes, size_t* size) {
  auto* data = static_cast<OS_dispatch_data*>(of);
  if (bytes) *bytes = data->bytes_;
  if (size) *size = data->size_;
  return [data retain];
}
bool dispatch_data_apply(dispatch_data_t of, NS_NOESCAPE bool (^block)(dispatch_data_t, size_t, const void*, size_t)) {
  auto* data = static_cast<OS_dispatch_data*>(of);
  return data->size_ == 0 || block(data, 0, data->bytes_, data->size_);
}
