
Bv10Jnqux