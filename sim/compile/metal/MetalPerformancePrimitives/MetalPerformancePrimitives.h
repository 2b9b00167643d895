// Not part of what is modelled.
#error "tensor operations (Metal 4): not modelled"
