
Bd2Jwv@XH@