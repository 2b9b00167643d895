
Bv7Jnx