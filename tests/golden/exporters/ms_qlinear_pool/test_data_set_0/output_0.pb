
Bv4JhnXâryçi