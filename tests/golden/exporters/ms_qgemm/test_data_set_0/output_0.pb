
Bv8JJb„RIg]PUc Ts